-- label_score_means: one row per group, with the weighted means of its labels and scores.
-- Grain: group_id
SELECT
  group_id,
  SUM(weight * label) / NULLIF(SUM(weight), 0) AS mean_label,
  SUM(weight * score) / NULLIF(SUM(weight), 0) AS mean_score
FROM predictions
GROUP BY group_id
