-- experiment_units: one row per unit: its lowest and highest variant, which differ if it was in several, and its summed amounts.
-- Python adds a column for each amount, its sum over the rows of the unit.
-- Grain: unit_id
SELECT
  unit_id,
  MIN(variant) AS variant,
  MAX(variant) AS last_variant
FROM observations
GROUP BY unit_id
