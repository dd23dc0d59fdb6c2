-- model_losses: one row per model: mean surrogate loss over its queries, and their number.
-- Grain: model_id
SELECT
  model_id,
  AVG(surrogate) AS loss,
  COUNT(surrogate) AS queries
FROM surrogates
GROUP BY model_id
