-- catalog_items: one row per group and distinct item of the history, which is the catalog.
-- Scope: group (all users have the same catalog)
-- Grain: group_id, doc_id
SELECT group_id, doc_id
FROM history
GROUP BY group_id, doc_id
