-- variant_pairs: one row per metric and treatment: CUPED-adjusted value, its variance and units, those of the control, and theta.
-- The variance in intervals of lifts is that of the jackknife.
-- Grain: metric, variant
SELECT
  metric, variant,
  MAX(cuped_theta) AS cuped_theta,
  MAX(CASE WHEN arm = variant THEN value END) AS value,
  MAX(CASE WHEN arm = variant THEN variance END) AS variance,
  MAX(CASE WHEN arm = variant THEN variance * jackknife_growth END) AS lift_variance,
  MAX(CASE WHEN arm = variant THEN units END) AS n_units,
  MAX(CASE WHEN arm = variant THEN effective_units END) AS effective_units,
  MAX(CASE WHEN arm = $control THEN value END) AS value_control,
  MAX(CASE WHEN arm = $control THEN variance END) AS variance_control,
  MAX(CASE WHEN arm = $control THEN variance * jackknife_growth END) AS lift_variance_control,
  MAX(CASE WHEN arm = $control THEN units END) AS n_units_control,
  MAX(CASE WHEN arm = $control THEN effective_units END) AS effective_units_control
FROM variant_estimates
GROUP BY metric, variant
