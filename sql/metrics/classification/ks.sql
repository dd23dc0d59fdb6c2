-- KS: greatest distance between the score distributions of positives and negatives, that is of recall and FPR.
-- Requires: binary labels.
-- Bounds: 0 to 1.
-- No influence: the score at which it is greatest moves with the rows.
-- Orders: tied to best or worst.
-- Undefined: predictions of one class only.
-- Source: Kolmogorov-Smirnov two-sample statistic; scipy ks_2samp.
SELECT
  group_id,
  MAX(
    CASE
      WHEN (positives_above + positives) / NULLIF(all_positives, 0) - (negatives_above + negatives) / NULLIF(all_negatives, 0)
        > negatives_above / NULLIF(all_negatives, 0) - positives_above / NULLIF(all_positives, 0)
        THEN (positives_above + positives) / NULLIF(all_positives, 0) - (negatives_above + negatives) / NULLIF(all_negatives, 0)
      ELSE negatives_above / NULLIF(all_negatives, 0) - positives_above / NULLIF(all_positives, 0)
    END
  ) AS ks
FROM thresholds
GROUP BY group_id
