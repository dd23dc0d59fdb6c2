-- overall_means: one row per variant, with its means, and totals over all.
-- The totals are the number of units in several variants, and the mean covariate.
-- Grain: variant
SELECT
  variant,
  units,
  SUM(multi_variant_units) OVER () AS multi_variant_units
FROM variant_means
