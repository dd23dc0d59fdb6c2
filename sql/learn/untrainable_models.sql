-- untrainable_models: one row per model that has no query with examples of both classes.
-- Grain: model
SELECT model
FROM (
  SELECT model_id, model, query_id, MIN(label) AS least, MAX(label) AS most
  FROM examples
  GROUP BY model_id, model, query_id
) AS queries
GROUP BY model_id, model
HAVING MAX(most - least) < 1
ORDER BY model_id
