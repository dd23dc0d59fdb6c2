-- KS: greatest distance between the score distributions of positives and negatives, that is, between recall and FPR.
--     KS = max over thresholds t of |TPR(t) - FPR(t)|
-- TPR - FPR is greatest at the score of a positive, and FPR - TPR just above one.
-- Full name: Kolmogorov-Smirnov statistic.
-- Use when: you choose one threshold, as in credit scoring, and want the best separation that any has.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Interval: bootstrap from 50 units of each class (the score at which it is greatest depends on all rows)
-- Tie bounds: tied to best or worst.
-- Undefined: predictions of one class only.
-- Source: Kolmogorov-Smirnov two-sample statistic; scipy ks_2samp.
SELECT
  group_id,
  MAX(
    greater(
      (positives_above + positives) / NULLIF(total_positives, 0) - (negatives_above + negatives) / NULLIF(total_negatives, 0),
      negatives_above / NULLIF(total_negatives, 0) - positives_above / NULLIF(total_positives, 0)
    )
  ) AS ks
FROM positive_thresholds
GROUP BY group_id
