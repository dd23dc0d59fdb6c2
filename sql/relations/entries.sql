-- entries: one row per label and score that occur together in a list, with the number and the weight of its predictions,
-- the sums of the squares and cubes of their weights, and the least and the greatest of these.
SELECT
  list_id,
  label,
  score,
  COUNT(*) AS predictions,
  SUM(weight) AS weight,
  SUM(weight * weight) AS squares,
  SUM(weight * weight * weight) AS cubes,
  MIN(weight) AS lightest,
  MAX(weight) AS heaviest
FROM predictions
WHERE weight > 0
GROUP BY list_id, label, score
