-- group_class_totals: one row per group: weights of its positives and negatives.
-- Grain: group_id
SELECT
  group_id,
  SUM(weight * label) AS total_positives,
  SUM(weight * (1 - label)) AS total_negatives
FROM predictions
WHERE weight > 0
GROUP BY group_id
