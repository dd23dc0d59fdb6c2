-- catalog_items: one row per group and item of the catalog, which is every item of the history.
-- Scope: group (all users have the same catalog)
-- Grain: group_id, doc_id
SELECT
  group_id,
  doc_id
FROM history
GROUP BY group_id, doc_id
