-- entries: one row per label and score that occur together in a list, with the weight of its predictions.
SELECT
  list_id,
  label,
  score,
  SUM(weight) AS weight
FROM predictions
WHERE weight > 0
GROUP BY list_id, label, score
