-- amounts: one row per prediction with its weight in its own class; squares is the square of that of a positive.
SELECT
  group_id,
  score,
  CASE WHEN label = 1 THEN weight ELSE 0 END AS positives,
  CASE WHEN label = 1 THEN weight * weight ELSE 0 END AS squares,
  CASE WHEN label = 1 THEN 0 ELSE weight END AS negatives,
  weight * label AS observed,
  1 AS tied_rows
FROM predictions
