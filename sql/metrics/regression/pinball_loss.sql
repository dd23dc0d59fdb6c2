-- PinballLoss: mean pinball loss of predicted quantiles: errors count by the level if the label is above, else by 1 less the level.
--     PinballLoss = mean of max(level (label - score), (level - 1) (label - score))
-- Use when: you predict quantiles, for example for stocks or capacity, where too low and too high cost differently.
-- Requires: finite scores, quantile levels.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0; a value beyond the greatest double.
-- Unit: in units of the label.
-- Source: Koenker & Bassett 1978; scikit-learn mean_pinball_loss.
SELECT
  group_id,
  SUM(weight * pinball_loss(label, score, quantile_level)) / NULLIF(SUM(weight), 0) AS pinball_loss
FROM predictions
GROUP BY group_id
