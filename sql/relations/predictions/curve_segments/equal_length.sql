-- curve_segments: one row per group and distinct score of positive weight: confusion matrix, class totals, and its segment, of equal length on the ROC curve.
-- The curve from (0, 0) to (1, 1) is cut into segments of equal length |d FPR| + |d TPR|, so that straight lines between their ends miss
-- at most 1 / (points - 2) of area. A point where two segments meet is in the later one, however its last digit was rounded.
-- $points: integer from 0 to 10000000, default 1000: maximum number of points, at least 10; 0 for all.
-- Grain: group_id, score
SELECT
  group_id, score,
  positives_above + positives AS tp, -- weight of true positives at this threshold
  negatives_above + negatives AS fp, -- weight of false positives
  positives_below AS fn, -- weight of false negatives
  negatives_below AS tn, -- weight of true negatives
  total_positives, total_negatives,
  CAST(FLOOR(
    (CASE WHEN $points < 10 THEN 8 ELSE $points - 2 END) / 4
      * (COALESCE((positives_above + positives) / NULLIF(total_positives, 0), 0)
        + COALESCE((negatives_above + negatives) / NULLIF(total_negatives, 0), 0) + 1e-10)
  ) AS BIGINT) AS segment -- number of the segment, from the highest score
FROM score_thresholds
WHERE positives + negatives > 0
