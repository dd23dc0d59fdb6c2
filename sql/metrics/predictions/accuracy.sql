-- Accuracy: share of correct predictions.
--     Accuracy = (TP + TN) / (TP + TN + FP + FN)
-- Use when: classes are balanced and both kinds of errors cost the same. With rare positives, a model without positives scores high.
-- Reading: Compare it with the share of the larger class, which always predicting that class reaches: 0.99 is no achievement if 99 % are negative.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0; under threshold_from=best also where the criterion is undefined.
-- Source: scikit-learn accuracy_score.
SELECT
  group_id,
  (SUM(tp) + SUM(tn)) / NULLIF(SUM(tp) + SUM(fp) + SUM(tn) + SUM(fn), 0) AS accuracy
FROM confusion_counts
GROUP BY group_id
