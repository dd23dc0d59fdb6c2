-- best_weights: one row per model and feature: its weight at the step of lowest loss, that loss, that of early steps, and of zero weights.
-- Weights that are all 0 rank nothing, and are only used if there are no others.
-- Grain: model, feature
SELECT
  model,
  GENERATE_SUBSCRIPTS(weights, 1) AS feature,
  UNNEST(weights) AS weight,
  loss, early_loss, zero_loss
FROM (
  -- one row per model
  SELECT
    model_id,
    ANY_VALUE(model) AS model,
    ARG_MIN(weights, CASE WHEN squared_length > 0 THEN loss ELSE 'inf' END) AS weights,
    COALESCE(MIN(CASE WHEN squared_length > 0 THEN loss END), MIN(loss)) AS loss,
    MIN(CASE WHEN num_steps >= 10 AND step < 0.9 * num_steps THEN loss END) AS early_loss, -- without the last tenth of the steps
    MIN(CASE WHEN squared_length = 0 THEN loss END) AS zero_loss
  FROM (
    -- one row per model and training step: its loss, which the next step has
    SELECT
      model_id, model, step, weights,
      LIST_DOT_PRODUCT(weights, weights) AS squared_length,
      LEAD(last_loss) OVER (PARTITION BY model_id ORDER BY step) AS loss,
      COUNT(*) OVER (PARTITION BY model_id) - 4 AS num_steps -- without the start, and what zero weights take
    FROM training_steps
  ) AS losses
  WHERE loss IS NOT NULL
  GROUP BY model_id
) AS least_losses
ORDER BY model_id, feature
