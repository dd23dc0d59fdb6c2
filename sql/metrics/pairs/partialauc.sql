-- PartialAUC: how probably a positive is scored above one of the k highest negatives; pAUC up to the false positive rate k / N.
--     PartialAUC@k = sum over positives of (those of the k highest negatives below it, ties counting tie_credit) / (P k)
-- $k: integer from 1: how many negatives, the highest, positives are compared with; under weights how much weight of them.
-- $tie_credit: number from 0 to 1, default 0.5: what a tie of a positive and a negative counts; 0 in the paper.
-- few_negatives(): default truncate: what is done where there are fewer than k negatives.
-- Requires: binary labels.
-- No influence: which negatives are the highest moves with the rows.
-- Orders: worst to best.
-- Undefined: predictions of one class only; by few_negatives=skip those with fewer than k negatives.
-- Source: Hiranandani et al. 2020, pAUC; RecTools PartialAUC. The metric called pAUC here takes a false positive rate.
SELECT
  group_id,
  SUM(positives * (rivals_below + $tie_credit * rivals_tied))
    / NULLIF(MAX(all_positives) * MAX(few_negatives($k, all_negatives)), 0) AS partialauc
FROM contests
GROUP BY group_id
