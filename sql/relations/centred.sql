-- centred: one row per prediction with the weighted means of labels and scores beside it.
SELECT
  list_id,
  label,
  score,
  weight,
  SUM(weight * label) OVER (PARTITION BY list_id) / NULLIF(SUM(weight) OVER (PARTITION BY list_id), 0) AS mean_label,
  SUM(weight * score) OVER (PARTITION BY list_id) / NULLIF(SUM(weight) OVER (PARTITION BY list_id), 0) AS mean_score
FROM predictions
