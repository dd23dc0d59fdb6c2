-- zero_weights: one row per model: zero weights as the training step $done, whose loss the next step returns.
-- Grain: model_id
SELECT
  model_id,
  model,
  $done AS step,
  [0.0 FOR weight IN weights] AS weights,
  CAST(NULL AS DOUBLE) AS last_loss
FROM training_steps
WHERE step = 0
