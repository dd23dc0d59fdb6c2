-- catalogue: one row per group and item that it could show.
-- Across lists: the catalogue is that of all users.
SELECT
  group_id,
  doc_id
FROM offers
GROUP BY group_id, doc_id
