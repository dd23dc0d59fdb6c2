-- unknown_left_id: one row: the number of candidate pairs whose left record is unknown, if there are any.
-- Grain: one row
SELECT
  COUNT(*) AS candidate_pairs -- left_id is not in records. Leave the pair out
FROM candidate_pairs AS p
LEFT JOIN records AS r
  ON p.left_id = r.record_id
WHERE r.record_id IS NULL
HAVING COUNT(*) > 0
