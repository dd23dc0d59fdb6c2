-- effective_predictions: one row per group: its predictions of equal weight that would say as much.
-- Source: Kish 1965.
-- Grain: group_id
SELECT
  group_id,
  SUM(weight) * SUM(weight) / NULLIF(SUM(weight * weight) * COUNT(DISTINCT class_id), 0) AS audit_effective_predictions -- each has a row per class
FROM class_scores
GROUP BY group_id
