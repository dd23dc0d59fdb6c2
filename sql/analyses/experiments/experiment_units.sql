-- experiment_units: one row per unit: its variant, and summed amounts.
-- Python adds a column for each amount, its sum over the rows of the unit.
-- Grain: unit_id
SELECT
  unit_id,
  MIN(variant) AS variant,
  MAX(variant) AS last_variant -- another one if the unit was in several variants
FROM observations
GROUP BY unit_id
