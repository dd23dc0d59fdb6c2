-- LogLikelihood: weighted sum of the logarithms of the probabilities given to what happened.
-- log_likelihood(): default clipped: logarithm of the probability that was given to what happened.
-- Requires: binary labels, probabilities.
-- No interval: it describes the data.
-- Undefined: no predictions.
-- Unit: nats.
-- Source: evaluation of recommenders by likelihood.
SELECT
  group_id,
  SUM(weight * log_likelihood(label, score)) AS log_likelihood
FROM predictions
GROUP BY group_id
