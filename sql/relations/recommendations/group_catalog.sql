-- group_catalog: one row per group and distinct item of the catalog.
-- Scope: group (all users have the same catalog), slice (an item is counted in every slice)
-- Grain: group_id, doc_id
SELECT group_id, doc_id
FROM catalog_items
GROUP BY group_id, doc_id
