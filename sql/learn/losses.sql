-- losses: one row per model with the mean of the surrogate over its queries, of which there are so many.
SELECT
  model_id,
  AVG(surrogate) AS loss,
  COUNT(surrogate) AS queries
FROM surrogates
GROUP BY model_id
