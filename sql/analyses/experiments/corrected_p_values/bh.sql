-- corrected_p_values: one row per metric and treatment: effect, p-value, and p-value corrected for the false discovery rate.
-- Source: Benjamini & Hochberg 1995.
-- Grain: metric, variant
SELECT
  metric,
  variant,
  cuped_theta,
  value,
  value_control,
  n_units,
  n_units_control,
  difference,
  se,
  df,
  relative_difference,
  relative_se,
  alpha,
  critical_value,
  relative_critical_value,
  mde_critical_value,
  p_value,
  CASE
    WHEN p_value IS NOT NULL
    THEN MIN(CASE WHEN p_value * num_tests / p_rank < 1 THEN p_value * num_tests / p_rank ELSE 1 END) OVER (
      ORDER BY p_rank DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
  END AS p_adjusted
FROM p_value_ranks
