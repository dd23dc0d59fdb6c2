-- next_weights: one row per model: its next training step, projected weights, and the last loss.
-- Weights are projected onto the ball of radius $radius.
-- The loss of a step is that of the weights before it, with the penalty.
-- Nonzero: length.
-- Grain: model_id
SELECT
  model_id, model,
  step + 1 AS step,
  [weight * CASE WHEN length > $radius THEN $radius / length ELSE 1 END FOR weight IN moved] AS weights,
  loss AS last_loss
FROM (
  -- one row per model
  SELECT
    current_weights.model_id, current_weights.model, current_weights.step,
    stepped_weights.weights AS moved,
    SQRT(LIST_DOT_PRODUCT(stepped_weights.weights, stepped_weights.weights)) AS length,
    model_losses.loss + $l2 / 2 * LIST_DOT_PRODUCT(current_weights.weights, current_weights.weights) AS loss
  FROM current_weights
  JOIN model_losses ON model_losses.model_id = current_weights.model_id
  JOIN stepped_weights ON stepped_weights.model_id = current_weights.model_id
) AS gradient_steps
