-- current_weights: one row per model: its weights after the steps that are done.
-- $done is their number.
-- Grain: model_id
SELECT model_id, model, step, weights
FROM training_steps
WHERE step = $done
