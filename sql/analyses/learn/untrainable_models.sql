-- untrainable_models: one row per model that has no query with examples of both classes, of a weight above 0.
-- Grain: model
SELECT model
FROM (
  -- one row per model and query
  SELECT
    model_id, model, query_id,
    MIN(CASE WHEN weight > 0 THEN label END) AS least,
    MAX(CASE WHEN weight > 0 THEN label END) AS most
  FROM examples
  GROUP BY model_id, model, query_id
) AS query_labels
GROUP BY model_id, model
HAVING COALESCE(MAX(most - least), 0) < 1
ORDER BY model_id
