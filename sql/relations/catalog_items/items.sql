-- catalog_items: one row per group and item of the catalog, which is the items table.
-- Grain: group_id, doc_id
SELECT
  group_id,
  doc_id
FROM items
