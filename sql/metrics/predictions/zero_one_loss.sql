-- ZeroOneLoss: share of wrong predictions, the error rate.
--     ZeroOneLoss = (FP + FN) / (TP + TN + FP + FN)
-- Full name: zero-one loss.
-- Use when: classes are balanced and both kinds of errors cost the same. It is 1 - Accuracy.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Direction: lower.
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0; under threshold_from=best also where the criterion is undefined.
-- Source: scikit-learn zero_one_loss.
SELECT
  group_id,
  (SUM(fp) + SUM(fn)) / NULLIF(SUM(tp) + SUM(fp) + SUM(tn) + SUM(fn), 0) AS zero_one_loss
FROM confusion_counts
GROUP BY group_id
