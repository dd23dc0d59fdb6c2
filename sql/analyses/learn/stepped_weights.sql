-- stepped_weights: one row per model: its weights after a gradient step of length $learning_rate / sqrt(t), before projection.
-- Nonzero: w.step + 1, l.total_weight.
-- Grain: model_id
SELECT
  model_id,
  LIST(weight ORDER BY feature) AS weights
FROM (
  SELECT
    w.model_id,
    w.feature,
    w.weight - $learning_rate / SQRT(w.step + 1) * (COALESCE(s.slope, 0) / l.total_weight + $l2 * w.weight) AS weight
  FROM (
    SELECT model_id, step, UNNEST(weights) AS weight, GENERATE_SUBSCRIPTS(weights, 1) AS feature
    FROM current_weights
  ) AS w
  JOIN model_losses AS l ON l.model_id = w.model_id
  LEFT JOIN weight_gradients AS s ON s.model_id = w.model_id AND s.feature = w.feature
) AS terms
GROUP BY model_id
