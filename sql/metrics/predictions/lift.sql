-- Lift: how many times as many positives the top fraction by score holds as a random one; ties at its edge count in part.
--     Lift(f) = Gain(f) / f
-- Use when: you can act on a fixed share of the rows and want to know how much better that is than a random choice.
-- $fraction: number above 0 to 1: the share of the weight, highest scores first, that counts.
-- Requires: binary labels.
-- Interval: bootstrap (the score at which the fraction ends depends on all rows)
-- Tie bounds: worst to best.
-- Range: 0 to inf.
-- Undefined: predictions without a positive.
-- Unit: times as many as at random.
-- Source: the lift chart.
SELECT
  group_id,
  SUM(
    positives
      * share_in_top(positives, negatives, positives_above, negatives_above, $fraction * (total_positives + total_negatives))
  ) / NULLIF($fraction * MAX(total_positives), 0) AS lift
FROM positive_thresholds
GROUP BY group_id
