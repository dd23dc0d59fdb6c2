-- variant_summaries: one row per variant: its units and means, and the overall mean of each covariate.
-- For each: covariate
-- Grain: variant
SELECT
  variant_means.*,
  COALESCE(
    SUM(CASE WHEN variant IS NOT NULL THEN covariate_count * variant_mean_covariate END) OVER ()
    / NULLIF(SUM(CASE WHEN variant IS NOT NULL THEN covariate_count END) OVER (), 0),
    0
  ) AS covariate_overall_mean
FROM variant_means
