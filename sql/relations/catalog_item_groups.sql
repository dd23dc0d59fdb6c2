-- catalog_item_groups: one row per catalog item and group in which it is counted.
-- Scope: group (all users have the same catalog), slice (an item is counted in every slice)
-- Grain: group_id, doc_id
SELECT
  group_id,
  doc_id
FROM catalog_items
