-- prediction_logits: one row per prediction of positive weight: its sampled unit, label, weight, and logit of its score.
-- Sampling unit: predictions.
-- Materialize: every step of a fit reads it.
-- Grain: rows of predictions
SELECT
  group_id,
  unit_id, -- what was sampled independently
  label, weight,
  logit(score) AS logit -- ln(p / (1 - p))
FROM predictions
WHERE weight > 0
