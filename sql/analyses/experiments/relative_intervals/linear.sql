-- relative_intervals: one row per metric and treatment: limits of the interval of its relative difference, symmetric about it.
-- Its two expressions replace $relative_ci_low and $relative_ci_high in results.sql.
-- Grain: rows of results
SELECT
  relative_difference - relative_critical_value * relative_se AS relative_ci_low,
  relative_difference + relative_critical_value * relative_se AS relative_ci_high
FROM results
