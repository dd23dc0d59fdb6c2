-- BrierSkill: one minus the Brier score over that of always predicting the base rate.
--     BrierSkill = 1 - Brier / (b (1 - b)) with the base rate b
-- Full name: Brier skill score.
-- Use when: you compare probabilities across data with different base rates. Below 0 the model is worse than the base rate.
-- Requires: binary labels, probabilities.
-- Range: -inf to 1.
-- Undefined: predictions of one class only.
-- Source: Murphy 1973; scikit-learn d2_brier_score.
SELECT
  group_id,
  1 - SUM(weight * (score - label) * (score - label))
    / NULLIF(SUM(weight * label) * (SUM(weight * (1 - label)) / NULLIF(SUM(weight), 0)), 0) AS brier_skill
FROM predictions
GROUP BY group_id
