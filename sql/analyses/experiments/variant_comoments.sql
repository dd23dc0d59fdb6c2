-- variant_comoments: one row per variant: means, and sums of squares and products about them.
-- Units without a covariate count with its overall mean.
-- For each: amount, outcome, covariate, and pair of them that a metric needs
-- Grain: variant
SELECT
  variant_summaries.variant,
  MAX(units) AS units,
  MAX(multi_variant_units) AS multi_variant_units,
  MAX(variant_mean_amount) AS mean_amount,
  SUM((outcome - variant_mean_outcome) * (other_outcome - variant_mean_other_outcome)) AS product_outcome_other_outcome,
  SUM(
    (outcome - variant_mean_outcome) * (COALESCE(covariate, covariate_overall_mean) - variant_mean_covariate)
  ) AS product_outcome_covariate,
  SUM(
    (COALESCE(covariate, covariate_overall_mean) - variant_mean_covariate)
    * (COALESCE(other_covariate, other_covariate_overall_mean) - variant_mean_other_covariate)
  ) AS product_covariate_other_covariate,
  SUM(CASE WHEN covariate IS NULL THEN 1 ELSE 0 END) AS covariate_missing
FROM experiment_units
INNER JOIN variant_summaries ON experiment_units.variant = variant_summaries.variant
WHERE experiment_units.variant = experiment_units.last_variant
GROUP BY variant_summaries.variant
