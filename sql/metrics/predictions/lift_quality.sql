-- LiftQuality: area between the cumulative lift curve and that of a random order, over the most it can be.
--     LiftQuality = (C - D) / (C + D) = 2 AUC - 1
-- C is the weight of pairs of a positive and a negative in the right order, D of those in the wrong one, as for AUC, with any weights.
-- Use when: you rank rows for a campaign whose size is not fixed yet, and want one number over all sizes.
-- $tie_credit: number from 0 to 1, default 0.5: credit of a positive and a negative of equal scores.
-- lift_variant(): default exact: the definition, or the figure that the published Spark code arrives at.
-- Requires: binary labels.
-- Range: -1 to 1, but not under lift_variant=magnetic_spark.
-- Interval: influence 2 * auc_influence FROM prediction_influence, error delong, limits hanley_mcneil
-- Tie bounds: worst to best.
-- Undefined: predictions of one class only.
-- Source: Magnetic's LightMetrics, in the form that does not depend on the order of tied rows.
SELECT
  group_id,
  pair_balance(positives, negatives_below, negatives, negatives_above, $tie_credit)
    - lift_variant(SUM(positive_squares / NULLIF(total_positives, 0) / NULLIF(total_negatives, 0))) AS lift_quality
FROM positive_thresholds
GROUP BY group_id
