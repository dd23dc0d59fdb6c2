-- Gain: share of the positives that are among the top fraction by score; ties at its edge count in part.
--     Gain(f) = positives among the top fraction f / positives
-- Use when: you can act on a fixed share of the rows, such as the top 10 % of customers, and ask how many positives you reach.
-- $fraction: number above 0 to 1: the share of the weight, highest scores first, that counts.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Interval: bootstrap (the score at which the fraction ends depends on all rows)
-- Tie bounds: worst to best.
-- Undefined: predictions without a positive.
-- Unit: share of positives.
-- Source: the cumulative gains chart.
SELECT
  group_id,
  SUM(
    positives
      * share_in_top(positives, negatives, positives_above, negatives_above, $fraction * (total_positives + total_negatives))
  ) / NULLIF(MAX(total_positives), 0) AS gain
FROM positive_thresholds
GROUP BY group_id
