-- label_score_means: one row per group: weighted mean of its labels, and weighted mean of its scores.
-- Grain: group_id
SELECT
  group_id,
  SUM(weight * label) / NULLIF(SUM(weight), 0) AS mean_label, -- weighted mean
  SUM(weight * score) / NULLIF(SUM(weight), 0) AS mean_score -- weighted mean
FROM predictions
GROUP BY group_id
