-- imputed_means: one row per variant, with its means, where units without a covariate have the overall mean.
-- Grain: variant
SELECT
  variant,
  units,
  multi_variant_units
FROM variant_summaries
