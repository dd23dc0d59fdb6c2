-- exact: one row per group and distinct score, with sums that can be added over days; it is exact, and pays if distinct scores are few.
-- Grain: group_id, bin
SELECT
  group_id,
  score AS bin,
  SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
  SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives,
  MIN(score) AS score_min,
  MAX(score) AS score_max,
  COUNT(*) AS num_rows
FROM predictions
GROUP BY group_id, score
