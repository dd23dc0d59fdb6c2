-- variant_comoments: one row per variant, with the sums of squares and products about the means of its units.
-- Grain: variant
SELECT
  u.variant,
  MAX(m.units) AS units,
  MAX(m.multi_variant_units) AS multi_variant_units
FROM experiment_units AS u
INNER JOIN overall_means AS m ON u.variant = m.variant
WHERE u.variant = u.last_variant
GROUP BY u.variant
