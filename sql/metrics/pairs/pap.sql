-- pAp: probability that one of the highest positives, k or as many as there are, is scored above one of the k highest negatives.
--     pAp@k = PartialAUC@k of the min(P, k) highest positives, without the other ones
-- Use when: you act on about k predictions, and want the order of the best positives and negatives to be right.
-- $k: integer from 1: how many positives and negatives, the highest, are compared; under weights how much weight of them.
-- $tie_credit: number from 0 to 1, default 0.5: credit of a positive and a negative of equal scores; 0 in the paper.
-- few_negatives(): default truncate: rule for groups with fewer than k negatives.
-- Requires: binary labels.
-- Interval: bootstrap (which negatives are the highest depends on all rows)
-- Tie bounds: worst to best.
-- Range: 0 to 1.
-- Undefined: predictions of one class only, but for positives alone under few_negatives=pad, which is 1; by few_negatives=skip those with fewer than k negatives.
-- Source: Hiranandani et al. 2020; RecTools PAP. Its micro average is level=query with few_negatives=skip.
SELECT
  group_id,
  pair_share(top_positives, top_negatives_below, top_negatives_tied, top_negatives_above, $tie_credit) AS pap
FROM top_negative_counts
GROUP BY group_id
