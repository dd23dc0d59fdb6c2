-- experiment_units: one row per unit, with its lowest and highest variant, which differ if it was in several, and its summed amounts.
-- Grain: unit_id
SELECT
  unit_id,
  MIN(variant) AS variant,
  MAX(variant) AS last_variant
FROM observations
GROUP BY unit_id
