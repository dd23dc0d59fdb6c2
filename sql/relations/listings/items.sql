-- listings: one row per item of the catalogue: those of the table of items.
SELECT
  group_id,
  doc_id
FROM items
