-- query_aucs: one row per group: AUC of this query, number and weight of its predictions, and weight of its positives.
-- $tie_credit: number from 0 to 1, default 0.5: credit of a positive and a negative of equal scores.
-- Sampling unit: queries.
-- Grain: group_id
SELECT
  group_id,
  pair_share(positives, negatives_below, negatives, negatives_above, $tie_credit) AS auc, -- NULL without negatives
  MAX(total_positives) AS total_positives, -- weight of its positives
  MAX(total_positives) + MAX(total_negatives) AS weight, -- of its predictions
  MAX(total_rows) AS num_predictions -- predictions of the query
FROM positive_thresholds
GROUP BY group_id
