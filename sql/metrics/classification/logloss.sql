-- LogLoss: mean of minus the logarithm of the probability given to what happened, cross-entropy in nats.
-- log_likelihood(): default clipped: logarithm of the probability that was given to what happened.
-- Requires: binary labels, probabilities.
-- Undefined: no predictions, or all of weight 0.
-- Unit: nats.
-- Source: scikit-learn log_loss.
-- Better: lower.
SELECT
  group_id,
  -SUM(weight * log_likelihood(label, score)) / NULLIF(SUM(weight), 0) AS log_loss
FROM predictions
GROUP BY group_id
