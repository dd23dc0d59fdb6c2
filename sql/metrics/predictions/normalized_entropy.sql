-- NormalizedEntropy: log loss over that of always predicting the base rate; below 1 is better than that.
--     NE = LogLoss / -(b ln b + (1 - b) ln(1 - b)) with the base rate b
-- Use when: you compare click models across campaigns or days with different click rates.
-- Requires: binary labels, probabilities.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: predictions of one class only.
-- Reference value: 1 (the base rate).
-- Source: He et al. 2014; torcheval BinaryNormalizedEntropy.
SELECT
  group_id,
  -SUM(weight * log_likelihood(label, score))
    / NULLIF(base_rate_log_loss(SUM(weight * label), SUM(weight * (1 - label))), 0) AS normalized_entropy
FROM predictions
GROUP BY group_id
