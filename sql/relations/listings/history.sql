-- listings: one row per item of the catalogue: what anybody had before.
-- Across lists: the catalogue is that of all users.
SELECT
  group_id,
  doc_id
FROM history
GROUP BY group_id, doc_id
