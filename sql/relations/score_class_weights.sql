-- score_class_weights: one row per group and distinct score, with the weight of each class.
-- Grain: group_id, score
SELECT
  group_id,
  score,
  SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
  SUM(CASE WHEN label = 1 THEN weight * weight ELSE 0 END) AS positive_squares,
  SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives,
  SUM(CASE WHEN label = 1 THEN 0 ELSE weight * weight END) AS negative_squares,
  SUM(CASE WHEN label = 1 AND weight > 0 THEN 1 ELSE 0 END) AS positive_rows,
  SUM(CASE WHEN label = 0 AND weight > 0 THEN 1 ELSE 0 END) AS negative_rows,
  SUM(weight * label) AS label_sum,
  COUNT(*) AS num_rows
FROM predictions
GROUP BY group_id, score
