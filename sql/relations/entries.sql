-- entries: one row per label and score that occur together in a list of more than 32 predictions, with their weight.
SELECT
  group_id,
  label,
  score,
  SUM(weight) AS weight
FROM sized
WHERE predictions > 32
GROUP BY group_id, label, score
