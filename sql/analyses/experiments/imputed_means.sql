-- imputed_means: one row per variant: units, and means, where units without a covariate have its overall mean.
-- Python adds a column for each mean, the number of units that have each covariate, and its mean over all variants.
-- Grain: variant
SELECT
  variant,
  units,
  multi_variant_units
FROM variant_summaries
