-- scored_labels: one row per group: its predictions, and those whose scores of classes are not what probabilities are.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS audit_scored_predictions,
  SUM(CASE WHEN label_rows = 0 THEN 1 ELSE 0 END) AS audit_unscored_labels, -- predictions have a label that none of their classes is, which counts as a score of 0
  SUM(CASE WHEN ABS(score_sum - 1) > 0.01 THEN 1 ELSE 0 END) AS audit_other_sums -- predictions have class probabilities that do not add up to 1
FROM scored_labels
GROUP BY group_id
