-- Gain: share of the positives that are among the top fraction by score; ties at its edge count in part.
-- $fraction: number above 0 to 1: the part of all weight that is looked at.
-- Requires: binary labels.
-- Bounds: 0 to 1.
-- No influence: the score at which the fraction ends moves with the rows.
-- Orders: worst to best.
-- Undefined: predictions without a positive.
-- Unit: share of positives.
-- Source: the cumulative gains chart.
SELECT
  group_id,
  SUM(
    positives * CASE
      WHEN positives_above + negatives_above + positives + negatives <= $fraction * (all_positives + all_negatives) THEN 1
      WHEN positives_above + negatives_above >= $fraction * (all_positives + all_negatives) THEN 0
      ELSE ($fraction * (all_positives + all_negatives) - positives_above - negatives_above) / NULLIF(positives + negatives, 0)
    END
  ) / NULLIF(MAX(all_positives), 0) AS gain
FROM thresholds
GROUP BY group_id
