-- PartialAUC: probability that a positive is scored above one of the k highest negatives; pAUC up to the false positive rate k / N.
--     PartialAUC@k = sum over positives of negatives below / (P min(k, N))
-- Of the k highest negatives those below the positive count, and ties as tie_credit.
-- Use when: you can tolerate a fixed number of false positives, and the order above them counts.
-- $k: integer from 1: how many negatives, the highest, positives are compared with; under weights how much weight of them.
-- $tie_credit: number from 0 to 1, default 0.5: credit of a positive and a negative of equal scores; 0 in the paper.
-- few_negatives(): default truncate: rule for groups with fewer than k negatives.
-- Requires: binary labels.
-- Interval: bootstrap (which negatives are the highest depends on all rows)
-- Tie bounds: worst to best.
-- Range: 0 to 1.
-- Undefined: predictions of one class only, but for positives alone under few_negatives=pad, which is 1; by few_negatives=skip those with fewer than k negatives.
-- Source: Hiranandani et al. 2020, pAUC; RecTools PartialAUC. The metric called pAUC here takes a false positive rate.
SELECT
  group_id,
  pair_share(positives, top_negatives_below, top_negatives_tied, top_negatives_above, $tie_credit) AS partial_auc
FROM top_negative_counts
GROUP BY group_id
