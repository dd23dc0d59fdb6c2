-- standing: one row per prediction with the number of predictions of lower scores.
SELECT
  list_id,
  score,
  weight,
  weight * label AS observed,
  RANK() OVER (PARTITION BY list_id ORDER BY score) - 1 AS rows_below,
  COUNT(*) OVER (PARTITION BY list_id) AS all_rows
FROM predictions
