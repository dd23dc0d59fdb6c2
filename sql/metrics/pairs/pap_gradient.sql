-- pApGradient: one row per group and prediction: sub-gradient of pApSurrogate with respect to its score, to train a model by.
--     positive = -p / (b k)
--     negative = q / (b k)
-- A positive has p negatives within its margin, and a negative among the highest k has q positives; others have 0.
-- Predictions of one class and score share theirs equally.
-- Weights are not read.
-- Use when: you train a scorer for the top of the list in your own loop.
-- $k: integer from 1: number of negatives and, at most, positives that are compared.
-- few_negatives(): default truncate: rule for groups with fewer than k negatives.
-- surrogate: default avg: ramp, avg, max, ts, ts_reference, pauc, precision or precision_reference, as of pApSurrogate.
-- Requires: binary labels, finite scores.
-- Undefined: predictions of one class only.
-- Source: Hiranandani et al. 2020; precision: Kar et al. 2015.
SELECT
  group_id,
  ROW_NUMBER() OVER (
    PARTITION BY group_id ORDER BY score DESC, label DESC, doc_id
  ) AS point, -- number of the prediction, from the highest score
  doc_id, label, score,
  gradient_share / NULLIF(positive_divisor * few_negatives($k, num_negatives), 0) AS gradient -- 0 if it is not compared
FROM surrogate_gradients
