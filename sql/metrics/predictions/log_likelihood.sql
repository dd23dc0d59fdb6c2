-- LogLikelihood: weighted sum of the logarithms of the predicted probabilities of the observed labels.
--     LogLikelihood = sum w (y ln p + (1 - y) ln(1 - p))
-- Use when: you compare models on the same rows, for example by a likelihood ratio or an information criterion.
-- Requires: binary labels, probabilities.
-- Interval: none (it describes the data)
-- Range: -inf to 0.
-- Undefined: no predictions.
-- Unit: nats.
-- Source: evaluation of recommenders by likelihood.
SELECT
  group_id,
  SUM(weight * log_likelihood(label, score)) AS log_likelihood
FROM predictions
GROUP BY group_id
