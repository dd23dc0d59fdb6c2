-- supply: one row per item of the catalogue and group that it counts in, with its provider.
-- Per slice: an item counts in each.
SELECT
  group_id,
  doc_id,
  provider
FROM items
