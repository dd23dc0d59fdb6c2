-- CRPS: continuous ranked probability score from predicted quantiles: twice their mean pinball loss, which nears it with many equidistant levels.
--     CRPS = 2 PinballLoss, over many levels
-- Full name: continuous ranked probability score.
-- Use when: you predict several quantiles and want one score for the whole distribution.
-- Requires: finite scores, quantile levels.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0; a value beyond the greatest double.
-- Unit: in units of the label.
-- Source: Gneiting & Ranjan 2011; Laio & Tamea 2007.
SELECT
  group_id,
  2 * SUM(weight * pinball_loss(label, score, quantile_level)) / NULLIF(SUM(weight), 0) AS crps
FROM predictions
GROUP BY group_id
