-- pApSurrogate: surrogate loss of 1 - pAp@k for training: a hinge for every pair, so that a small change of a score counts.
-- K are the k highest negatives, H the b highest positives and L the b lowest; b is the number of positives, but at most k.
-- R are the positives that are not in H, and s are scores.
--     ramp = mean over p in H , n in K of max(0, margin + s_n - s_p)
--     max = mean over p in L , n in K of max(0, margin + s_n - s_p)
--     avg = mean over n in K of max(0, margin + s_n - mean score of all positives)
--     ts = 1 / (b k) * sum over n in K of max(A, D + B)
--     ts_reference = 1 / (b k) * sum over n in K of (A + B)
--     A = sum over p in R of max(0, s_n - s_p)
--     D = sum over p in R of (s_n - s_p)
--     B = sum over p in H of max(0, margin + s_n - s_p)
-- No pair is formed: as each pair above 0 adds margin + s_n - s_p, a loss is the sum of pair_weight * margin_score over negatives, less the
-- same sum over positives, over the number of pairs. pair_weight is the number of pairs of a prediction that are above 0, and margin_score
-- its score, of a positive less the margin.
-- True are 1 - pAp@k <= ramp <= max, avg <= max and 1 - pAp@k <= ts; avg may be less than 1 - pAp@k.
-- Two more are for comparison, pauc of pAUC@k, with all positives, and precision of precision@k. The latter is the greatest violation by a
-- top k that leaves positives out, margin + s_n summed over its negatives, less as many times the mean score of the positives left out.
-- precision_reference is that of the code of Hiranandani et al., if at least 0. It differs for k above the number of positives, where one
-- left out weighs 1 at most, even where more negatives are in, so that the same number added to all scores changes the loss.
-- Weights are not read.
-- Use when: you train a linear scorer for the top k, or want to see the loss that training minimises.
-- $k: integer from 1: number of negatives and, at most, positives that are compared.
-- few_negatives(): default truncate: rule for groups with fewer than k negatives.
-- surrogate: default avg: ramp, avg, max, ts, ts_reference, pauc, precision or precision_reference.
-- Requires: binary labels, finite scores.
-- Interval: bootstrap (which negatives are the highest depends on all rows)
-- Direction: lower.
-- Range: 0 to inf, but not under surrogate=precision.
-- Undefined: predictions of one class only; by few_negatives=skip those with fewer than k negatives.
-- Source: Hiranandani et al. 2020; pauc: Narasimhan and Agarwal 2013; precision: Kar et al. 2015.
SELECT
  group_id,
  SUM(CASE WHEN label = 1 THEN -pair_weight * margin_score ELSE pair_weight * margin_score END)
    / NULLIF(MAX(positive_divisor) * MAX(few_negatives($k, num_negatives)), 0) AS pap_surrogate
FROM misordered_pair_counts
GROUP BY group_id
