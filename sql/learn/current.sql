-- current: one row per model with its weights after $done steps.
SELECT
  model_id,
  model,
  step,
  weights
FROM trail
WHERE step = $done
