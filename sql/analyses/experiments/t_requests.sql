-- t_requests: one row per metric, treatment and purpose: df, alpha and t * t / df, from which steps to critical_values compute Student's t.
-- Grain: metric, variant, purpose
SELECT
  metric, variant, purpose,
  CASE WHEN purpose = 'lift' THEN relative_df ELSE df END AS df,
  CASE purpose WHEN 'test' THEN 1 - $confidence WHEN 'power' THEN 2 - 2 * $power ELSE alpha END AS alpha,
  difference * difference / NULLIF(se * se * df, 0) AS t_squared_by_df
FROM effects
CROSS JOIN (
  -- one row per purpose of a value of Student's t
  SELECT 'p' AS purpose
  UNION ALL SELECT 'difference' AS purpose
  UNION ALL SELECT 'lift' AS purpose
  UNION ALL SELECT 'test' AS purpose
  UNION ALL SELECT 'power' AS purpose
) AS purposes
