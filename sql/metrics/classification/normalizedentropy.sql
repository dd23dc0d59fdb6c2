-- NormalizedEntropy: log loss over that of always predicting the base rate; below 1 is better than that.
-- log_likelihood(): default clipped: logarithm of the probability that was given to what happened.
-- Requires: binary labels, probabilities.
-- Undefined: predictions of one class only.
-- Source: He et al. 2014; torcheval BinaryNormalizedEntropy.
-- Better: lower.
SELECT
  group_id,
  SUM(weight * log_likelihood(label, score))
    / NULLIF(
      SUM(weight * label) * LN(NULLIF(SUM(weight * label) / NULLIF(SUM(weight), 0), 0))
      + SUM(weight * (1 - label)) * LN(NULLIF(SUM(weight * (1 - label)) / NULLIF(SUM(weight), 0), 0)),
      0
    ) AS normalized_entropy
FROM predictions
GROUP BY group_id
