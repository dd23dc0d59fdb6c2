-- LogLoss: mean negative logarithm of the probability given to the label: score for 1, 1 - score for 0.
--     LogLoss = - sum w (y ln p + (1 - y) ln(1 - p)) / sum w
-- Use when: you use the probabilities themselves, as in bidding or expected values, and a confident error is expensive.
-- Reading: Always predicting the base rate p costs -p ln p - (1 - p) ln(1 - p): 0.69 for p = 0.5 and 0.056 for p = 0.01. Compare with that number, or use NormalizedLogLoss.
-- Requires: binary labels, probabilities.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0.
-- Unit: nats.
-- Source: scikit-learn log_loss.
SELECT
  group_id,
  -SUM(weight * log_likelihood(label, score)) / NULLIF(SUM(weight), 0) AS log_loss
FROM predictions
GROUP BY group_id
