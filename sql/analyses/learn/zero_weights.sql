-- zero_weights: one row per model: zero weights as a training step, whose loss the next step returns.
-- $done is the number of steps before it.
-- Grain: model_id
SELECT
  model_id, model,
  $done AS step,
  [0.0 FOR weight IN weights] AS weights,
  CAST(NULL AS DOUBLE) AS last_loss
FROM training_steps
WHERE step = 0
