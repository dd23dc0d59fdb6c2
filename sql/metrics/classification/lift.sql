-- Lift: how many times as many positives the top fraction by score holds as a random one; ties at its edge count in part.
-- $fraction: number above 0 to 1: the part of all weight that is looked at.
-- Requires: binary labels.
-- No influence: the score at which the fraction ends moves with the rows.
-- Orders: worst to best.
-- Undefined: predictions without a positive.
-- Unit: times as many as at random.
-- Source: the lift chart.
SELECT
  group_id,
  SUM(
    positives * CASE
      WHEN positives_above + negatives_above + positives + negatives <= $fraction * (all_positives + all_negatives) THEN 1
      WHEN positives_above + negatives_above >= $fraction * (all_positives + all_negatives) THEN 0
      ELSE ($fraction * (all_positives + all_negatives) - positives_above - negatives_above) / NULLIF(positives + negatives, 0)
    END
  ) / NULLIF($fraction * MAX(all_positives), 0) AS lift
FROM thresholds
GROUP BY group_id
