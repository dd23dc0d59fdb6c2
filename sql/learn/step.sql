-- trail: one row per model after the next step: its weights, brought back into the ball of radius $radius if they left it,
-- and the loss, with its penalty, of those before.
-- Never zero: length.
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
  FROM current AS w
  JOIN losses AS l ON l.model_id = w.model_id
  JOIN moved AS m ON m.model_id = w.model_id
) AS taken
