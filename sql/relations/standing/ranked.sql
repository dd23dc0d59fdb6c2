-- standing: one row per prediction with the number of predictions of lower scores.
SELECT
  group_id,
  score,
  weight,
  weight * label AS observed,
  RANK() OVER (PARTITION BY group_id ORDER BY score) - 1 AS rows_below,
  COUNT(*) OVER (PARTITION BY group_id) AS all_rows
FROM predictions
