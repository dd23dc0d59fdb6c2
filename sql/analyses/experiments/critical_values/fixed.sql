-- critical_values: one row per metric and treatment: critical values by Student's t of both differences and of the MDE, and two-sided p-value.
-- The minimum detectable effect is mde_critical_value standard errors: the quantile of the test plus that of the power.
-- Grain: metric, variant
SELECT
  metric, variant,
  MAX(CASE WHEN purpose = 'difference' THEN t_quantile END) AS critical_value, -- of the absolute difference
  MAX(CASE WHEN purpose = 'lift' THEN t_quantile END) AS relative_critical_value, -- of the relative one
  MAX(CASE WHEN purpose = 'test' THEN t_quantile END) + MAX(CASE WHEN purpose = 'power' THEN t_quantile END) AS mde_critical_value,
  MAX(CASE WHEN purpose = 'p' THEN p_value END) AS p_value
FROM t_critical_values
GROUP BY metric, variant
