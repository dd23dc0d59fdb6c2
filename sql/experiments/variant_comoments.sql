-- variant_comoments: one row per variant, with the sums of squares and products about the means of its units.
-- Grain: variant
SELECT
  means.variant,
  MAX(means.units) AS units,
  MAX(means.multi_variant_units) AS multi_variant_units
FROM experiment_units AS units
INNER JOIN overall_means AS means ON units.variant = means.variant
WHERE units.variant = units.last_variant
GROUP BY means.variant
