-- Jaccard: share of the rows that are positive, predicted so, or both, that are both.
--     Jaccard = TP / (TP + FP + FN)
-- Full name: Jaccard index.
-- Use when: positives are rare, and a wrong and a missed one are equally bad. It has the order of FBeta, and is stricter.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Undefined: neither a positive nor a predicted one; under threshold_from=best also where the criterion is undefined.
-- Source: scikit-learn jaccard_score.
SELECT
  group_id,
  SUM(tp) / NULLIF(SUM(tp) + SUM(fp) + SUM(fn), 0) AS jaccard
FROM confusion_counts
GROUP BY group_id
