-- tied: one row per distinct score with the weight of each class; squares is the sum of the squared weights of positives.
SELECT
  group_id,
  score,
  SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
  SUM(CASE WHEN label = 1 THEN weight * weight ELSE 0 END) AS squares,
  SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives,
  SUM(CASE WHEN label = 1 THEN 0 ELSE weight * weight END) AS negative_squares,
  SUM(CASE WHEN label = 1 AND weight > 0 THEN 1 ELSE 0 END) AS positive_rows,
  SUM(CASE WHEN label = 0 AND weight > 0 THEN 1 ELSE 0 END) AS negative_rows,
  SUM(weight * label) AS observed,
  COUNT(*) AS tied_rows
FROM predictions
GROUP BY group_id, score
