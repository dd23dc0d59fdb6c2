-- LogOdds: logarithm of the diagnostic odds ratio, (tp tn) / (fp fn).
--     LogOdds = ln(TP TN / (FP FN))
-- Full name: logarithm of the diagnostic odds ratio.
-- Use when: you compare diagnostic tests whose thresholds differ.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Range: -inf to inf.
-- Undefined: one of the four is 0; under threshold_from=best also where the criterion is undefined.
-- Source: Glas et al. 2003.
SELECT
  group_id,
  LN(NULLIF(SUM(tp), 0) / NULLIF(SUM(fp), 0)) + LN(NULLIF(SUM(tn), 0) / NULLIF(SUM(fn), 0)) AS log_odds
FROM confusion_counts
GROUP BY group_id
