-- group_areas: one row per group with a positive: area under the ROC curve.
-- $tie_credit: number from 0 to 1, default 0.5: credit of a positive and a negative of equal scores.
-- Grain: group_id
SELECT
  group_id,
  pair_share(positives, negatives_below, negatives, negatives_above, $tie_credit) AS auc -- area under the ROC curve, NULL without negatives
FROM positive_thresholds
GROUP BY group_id
