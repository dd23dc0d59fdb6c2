-- label_score_weights: one row per group, distinct label and score: weight of its predictions.
-- Predictions of weight 0 are left out.
-- Grain: group_id, label, score
SELECT
  group_id,
  label,
  score,
  SUM(weight) AS weight
FROM predictions
WHERE weight > 0
GROUP BY group_id, label, score
