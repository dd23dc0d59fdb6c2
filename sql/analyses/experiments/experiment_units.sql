-- experiment_units: one row per unit: its variant, and summed amounts.
-- For each: amount
-- Grain: unit_id
SELECT
  unit_id,
  MIN(variant) AS variant,
  MAX(variant) AS last_variant, -- another one if the unit was in several variants
  SUM(amount) AS amount
FROM observations
GROUP BY unit_id
