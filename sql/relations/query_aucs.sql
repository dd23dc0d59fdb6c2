-- query_aucs: one row per query with predictions of both classes, with its AUC, its weights and its number of predictions.
-- $tie_credit: number from 0 to 1, default 0.5: credit of a positive and a negative of equal scores.
-- Sampling unit: queries.
-- Grain: group_id
SELECT
  group_id,
  SUM(
    positives / NULLIF(total_positives, 0) * ((negatives_below + $tie_credit * negatives) / NULLIF(total_negatives, 0))
  ) AS auc,
  MAX(total_positives) AS total_positives,
  MAX(total_positives) + MAX(total_negatives) AS weight,
  MAX(total_rows) AS num_predictions
FROM positive_thresholds
GROUP BY group_id
