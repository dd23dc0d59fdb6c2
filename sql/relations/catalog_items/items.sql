-- catalog_items: one row per catalog item, a row of the items table.
-- Grain: group_id, doc_id
SELECT
  group_id,
  doc_id
FROM items
