-- item_providers: one row per group and catalog item, with its provider.
-- Scope: slice (an item is counted in every slice)
-- Grain: group_id, doc_id
SELECT
  group_id,
  doc_id,
  provider
FROM items
