-- NormalizedLogLoss: one minus log loss over that of always predicting the base rate: 1 is best, 0 no better than that.
--     NormalizedLogLoss = 1 - LogLoss / -(b ln b + (1 - b) ln(1 - b)) with the base rate b
-- Use when: you compare log loss across data with different base rates and want higher values to be better.
-- Requires: binary labels, probabilities.
-- Range: -inf to 1.
-- Undefined: predictions of one class only.
-- Source: Magnetic's LightMetrics; scikit-learn d2_log_loss_score.
SELECT
  group_id,
  1 + SUM(weight * log_likelihood(label, score))
    / NULLIF(base_rate_log_loss(SUM(weight * label), SUM(weight * (1 - label))), 0) AS normalized_log_loss
FROM predictions
GROUP BY group_id
