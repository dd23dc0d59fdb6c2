-- curve_segments: one row per group and distinct score of positive weight: confusion matrix, class totals, and its segment, on a logarithmic scale for precision.
-- Precision changes fastest at the highest scores: within a segment, by a factor of at most exp(4 ln(n) / (points - 4)), where n is the
-- total weight over the weight of the first positives.
-- $points: integer from 0 to 10000000, default 1000: maximum number of points, at least 10; 0 for all.
-- Nonzero: first_tp.
-- Grain: group_id, score
SELECT
  group_id, score,
  tp, -- weight of true positives at this threshold
  fp, -- weight of false positives
  fn, -- weight of false negatives
  tn, -- weight of true negatives
  total_positives, total_negatives,
  CASE
    WHEN tp > 0
      THEN CAST(FLOOR(
        (CASE WHEN $points < 10 THEN 6 ELSE $points - 4 END) / 2
          * (LN(CASE WHEN tp > 0 THEN tp / first_tp END) + LN(CASE WHEN tp > 0 THEN (tp + fp) / first_tp END))
          / NULLIF(2 * LN((total_positives + total_negatives) / first_tp), 0)
      ) AS BIGINT)
    ELSE -1
  END AS segment -- number of the segment; -1 above the first positive
FROM (
  -- one row per group and distinct score
  SELECT
    score_thresholds.*,
    positives_above + positives AS tp,
    negatives_above + negatives AS fp,
    positives_below AS fn,
    negatives_below AS tn,
    MIN(CASE WHEN positives_above + positives > 0 THEN positives_above + positives END) OVER (
      PARTITION BY group_id
    ) AS first_tp -- weight of the positives of the highest score of any
  FROM score_thresholds
  WHERE positives + negatives > 0
) AS curve_counts
