-- offers: one row per item of the catalogue and group that it counts in.
-- Across lists: the catalogue is that of all users.
-- Per slice: an item counts in each.
SELECT
  group_id,
  doc_id
FROM listings
