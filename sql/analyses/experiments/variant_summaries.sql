-- variant_summaries: one row per variant: its units and means, and the overall mean of each covariate.
-- Python adds the means and the overall means as columns.
-- Grain: variant
SELECT
  variant,
  units,
  multi_variant_units
FROM variant_means
