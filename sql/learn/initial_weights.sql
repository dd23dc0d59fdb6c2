-- initial_weights: one row per model: its first training step, with the initial weights and without a loss.
-- The loss of a step is that of the weights before it, with the penalty.
-- Grain: model_id
SELECT
  model_id,
  ANY_VALUE(model) AS model,
  0 AS step,
  CAST($start AS DOUBLE[]) AS weights,
  CAST(NULL AS DOUBLE) AS last_loss
FROM examples
GROUP BY model_id
