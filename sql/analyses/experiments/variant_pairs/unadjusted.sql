-- variant_pairs: one row per metric and variant: unadjusted value, its variance and units, and those of the control.
-- The relative variance is that of the logarithm of the value, NULL if that is not above 0.
-- Grain: metric, variant
SELECT
  metric,
  variant,
  CAST(0 AS DOUBLE) AS cuped_theta,
  value,
  variance,
  CASE WHEN value > 0 THEN variance / NULLIF(value * value, 0) END AS relative_variance,
  units AS n_units,
  effective_units,
  MAX(CASE WHEN variant = $control THEN value END) OVER (PARTITION BY metric) AS value_control,
  MAX(CASE WHEN variant = $control THEN variance END) OVER (PARTITION BY metric) AS variance_control,
  MAX(CASE WHEN variant = $control AND value > 0 THEN variance / NULLIF(value * value, 0) END)
    OVER (PARTITION BY metric) AS relative_variance_control,
  MAX(CASE WHEN variant = $control THEN units END) OVER (PARTITION BY metric) AS n_units_control,
  MAX(CASE WHEN variant = $control THEN effective_units END) OVER (PARTITION BY metric) AS effective_units_control
FROM variant_estimates
