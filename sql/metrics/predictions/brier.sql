-- Brier: mean squared difference between probability and outcome.
--     Brier = sum w (p - y)^2 / sum w
-- Full name: Brier score.
-- Use when: you use the probabilities themselves and want a bounded score that one extreme error cannot dominate.
-- Reading: Always predicting the base rate p costs p (1 - p): 0.25 for p = 0.5 and 0.0099 for p = 0.01. Compare with that number, or use BrierSkill.
-- Requires: binary labels, probabilities.
-- Direction: lower.
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0.
-- Source: Brier 1950; scikit-learn brier_score_loss.
SELECT
  group_id,
  SUM(weight * (score - label) * (score - label)) / NULLIF(SUM(weight), 0) AS brier
FROM predictions
GROUP BY group_id
