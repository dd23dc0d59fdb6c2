-- stepped_weights: one row per model: its weights after a gradient step, before projection.
-- The length of step t is $learning_rate / sqrt(t).
-- Nonzero: feature_weights.step + 1, model_losses.total_weight.
-- Grain: model_id
SELECT
  model_id,
  LIST(weight ORDER BY feature) AS weights
FROM (
  -- one row per model and feature
  SELECT
    feature_weights.model_id, feature_weights.feature,
    feature_weights.weight
      - $learning_rate / SQRT(feature_weights.step + 1)
        * (COALESCE(weight_gradients.slope, 0) / model_losses.total_weight + $l2 * feature_weights.weight) AS weight
  FROM (
    -- one row per model and feature: the weight before the step
    SELECT model_id, step, UNNEST(weights) AS weight, GENERATE_SUBSCRIPTS(weights, 1) AS feature
    FROM current_weights
  ) AS feature_weights
  JOIN model_losses ON model_losses.model_id = feature_weights.model_id
  LEFT JOIN weight_gradients
    ON weight_gradients.model_id = feature_weights.model_id AND weight_gradients.feature = feature_weights.feature
) AS moved_weights
GROUP BY model_id
