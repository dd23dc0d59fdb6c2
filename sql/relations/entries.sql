-- entries: one row per label and score that occur together in a list, with the weight of its predictions and the sums of
-- the squares and cubes of their weights.
SELECT
  list_id,
  label,
  score,
  SUM(weight) AS weight,
  SUM(weight * weight) AS squares,
  SUM(weight * weight * weight) AS cubes
FROM predictions
WHERE weight > 0
GROUP BY list_id, label, score
