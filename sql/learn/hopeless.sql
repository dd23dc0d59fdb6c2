-- The models for which no query has examples of both classes.
SELECT model
FROM (
  SELECT model_id, model, query_id, MIN(label) AS least, MAX(label) AS most
  FROM examples
  GROUP BY model_id, model, query_id
) AS queries
GROUP BY model_id, model
HAVING MAX(most - least) < 1
ORDER BY model_id
