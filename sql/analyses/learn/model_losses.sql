-- model_losses: one row per model: mean surrogate loss over its queries, and their number, by which sums of gradients are divided.
-- Grain: model_id
SELECT
  model_id,
  AVG(surrogate) AS loss,
  COUNT(surrogate) AS total_weight
FROM surrogates
GROUP BY model_id
