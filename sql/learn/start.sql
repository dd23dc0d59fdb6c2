-- trail: one row per model and step with its weights and the loss, with its penalty, of those before; the first step.
SELECT
  model_id,
  ANY_VALUE(model) AS model,
  0 AS step,
  CAST($start AS DOUBLE[]) AS weights,
  CAST(NULL AS DOUBLE) AS last_loss
FROM examples
GROUP BY model_id
