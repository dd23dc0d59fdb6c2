-- catalog_items: one row per catalog item, an item of any user's history.
-- Scope: group (all users have the same catalog)
-- Grain: group_id, doc_id
SELECT
  group_id,
  doc_id
FROM history
GROUP BY group_id, doc_id
