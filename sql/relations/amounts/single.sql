-- amounts: one row per prediction with its weight in its own class; squares is the square of that of a positive.
SELECT
  group_id,
  score,
  CASE WHEN label = 1 THEN weight ELSE 0 END AS positives,
  CASE WHEN label = 1 THEN weight * weight ELSE 0 END AS squares,
  CASE WHEN label = 1 THEN 0 ELSE weight END AS negatives,
  CASE WHEN label = 1 THEN 0 ELSE weight * weight END AS negative_squares,
  CASE WHEN label = 1 AND weight > 0 THEN 1 ELSE 0 END AS positive_rows,
  CASE WHEN label = 0 AND weight > 0 THEN 1 ELSE 0 END AS negative_rows,
  weight * label AS observed,
  1 AS tied_rows
FROM predictions
