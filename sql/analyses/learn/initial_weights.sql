-- initial_weights: one row per model: its first training step, with the initial weights and without a loss.
-- The loss of a step is that of the weights before it, with the penalty.
-- $start: weights of each model, or once for all models.
-- Grain: model_id
SELECT
  model_id,
  ANY_VALUE(model) AS model,
  0 AS step,
  LIST_EXTRACT(CAST($start AS DOUBLE[][]), CASE WHEN LEN($start) = 1 THEN 1 ELSE model_id END) AS weights,
  CAST(NULL AS DOUBLE) AS last_loss
FROM examples
GROUP BY model_id
