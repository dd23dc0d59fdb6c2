-- variant_pairs: one row per metric and variant: unadjusted value, its variance and units, and those of the control.
-- The variance in intervals of lifts is that of the jackknife.
-- Grain: metric, variant
SELECT
  metric, variant,
  CAST(0 AS DOUBLE) AS cuped_theta,
  value, variance,
  variance * jackknife_growth AS lift_variance,
  units AS n_units,
  effective_units,
  MAX(CASE WHEN variant = $control THEN value END) OVER (PARTITION BY metric) AS value_control,
  MAX(CASE WHEN variant = $control THEN variance END) OVER (PARTITION BY metric) AS variance_control,
  MAX(CASE WHEN variant = $control THEN variance * jackknife_growth END)
    OVER (PARTITION BY metric) AS lift_variance_control,
  MAX(CASE WHEN variant = $control THEN units END) OVER (PARTITION BY metric) AS n_units_control,
  MAX(CASE WHEN variant = $control THEN effective_units END) OVER (PARTITION BY metric) AS effective_units_control
FROM variant_estimates
