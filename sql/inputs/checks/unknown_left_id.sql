-- unknown_left_id: one row: the number of candidate pairs whose left record is unknown, if there are any.
-- Grain: one row
SELECT
  COUNT(*) AS candidate_pairs -- left_id is not in records. Leave the pair out
FROM candidate_pairs
LEFT JOIN records
  ON candidate_pairs.left_id = records.record_id
WHERE records.record_id IS NULL
HAVING COUNT(*) > 0
