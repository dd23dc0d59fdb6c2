-- t_requests: one row per metric, treatment and purpose: df, alpha and t * t / df, from which steps to critical_values compute Student's t.
-- p is the p-value, of t_squared_by_df. The other purposes are quantiles with alpha / 2 above them: difference and lift are for the limits of the
-- absolute and of the relative difference, test and power for the MDE. power has 1 minus the power above it, and test is not corrected.
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
