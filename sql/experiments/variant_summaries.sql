-- variant_summaries: one row per variant: its units and means, and totals of all variants.
-- The totals are the number of units in several variants, and the mean of each covariate; Python adds these and the means as columns.
-- Grain: variant
SELECT
  variant,
  units,
  SUM(multi_variant_units) OVER () AS multi_variant_units
FROM variant_means
