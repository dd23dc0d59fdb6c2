-- group_catalog: one row per group and catalog item.
-- Scope: group (all users have the same catalog)
-- Grain: group_id, doc_id
SELECT
  group_id,
  doc_id
FROM catalog_item_groups
GROUP BY group_id, doc_id
