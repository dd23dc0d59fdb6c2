-- FBeta: F measure: harmonic mean of precision and recall, with weights of 1 and beta^2.
--     F_beta = (1 + beta^2) Precision Recall / (beta^2 Precision + Recall)
-- Full name: F measure.
-- Use when: positives are rare and you want precision and recall in one number. It ignores true negatives.
-- Reading: It is near the smaller of precision and recall, so 0.5 can hide a recall of 1. It rises with the share of positives.
-- $beta: number from 0 to 10000, default 1: how many times recall counts as much as precision.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Undefined: neither a positive nor a predicted one; at beta=0, no predicted one; under threshold_from=best also where the criterion is undefined.
-- Source: van Rijsbergen 1979; scikit-learn fbeta_score.
SELECT
  group_id,
  (1 + $beta * $beta) * SUM(tp)
    / NULLIF((1 + $beta * $beta) * SUM(tp) + $beta * $beta * SUM(fn) + SUM(fp), 0) AS f_beta
FROM confusion_counts
GROUP BY group_id
