-- imputed_means: one row per variant: units, and means, where units without a covariate have its overall mean.
-- For each: outcome, covariate
-- Grain: variant
SELECT
  variant, units, multi_variant_units, variant_mean_outcome, covariate_overall_mean,
  covariate_overall_mean
  + COALESCE((variant_mean_covariate - covariate_overall_mean) * covariate_count / units, 0) AS variant_mean_covariate -- with the overall mean for units without it
FROM variant_summaries
