-- catalog_items: one row per group and item of the items table, which is the catalog.
-- Grain: group_id, doc_id
SELECT group_id, doc_id
FROM items
