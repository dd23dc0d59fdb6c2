-- variant_summaries: one row per variant: its units and means, and the overall mean of each covariate.
-- For each: amount, covariate (one of the amounts)
-- Grain: variant
SELECT
  variant,
  units,
  multi_variant_units,
  variant_mean_amount,
  covariate_count,
  COALESCE(
    SUM(CASE WHEN variant IS NOT NULL THEN covariate_count * variant_mean_covariate END) OVER ()
    / NULLIF(SUM(CASE WHEN variant IS NOT NULL THEN covariate_count END) OVER (), 0),
    0
  ) AS covariate_overall_mean
FROM variant_means
