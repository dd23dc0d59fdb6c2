-- label_score_weights: one row per group, label and score of predictions of positive weight: their weight.
-- Grain: group_id, label, score
SELECT
  group_id, label, score,
  SUM(weight) AS weight
FROM predictions
WHERE weight > 0
GROUP BY group_id, label, score
