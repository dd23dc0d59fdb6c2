-- next_weights: one row per model: its next training step, weights projected onto the ball of radius $radius, and the last loss.
-- The loss of a step is that of the weights before it, with the penalty.
-- Nonzero: length.
-- Grain: model_id
SELECT
  model_id,
  model,
  step + 1 AS step,
  [weight * CASE WHEN length > $radius THEN $radius / length ELSE 1 END FOR weight IN moved] AS weights,
  loss AS last_loss
FROM (
  SELECT
    w.model_id,
    w.model,
    w.step,
    m.weights AS moved,
    SQRT(LIST_DOT_PRODUCT(m.weights, m.weights)) AS length,
    l.loss + $l2 / 2 * LIST_DOT_PRODUCT(w.weights, w.weights) AS loss
  FROM current_weights AS w
  JOIN model_losses AS l ON l.model_id = w.model_id
  JOIN stepped_weights AS m ON m.model_id = w.model_id
) AS taken
