-- relative_intervals: one row per metric and treatment: limits of the interval of its relative difference, symmetric about it.
-- Grain: rows of results
SELECT
  CASE WHEN relative_se > 0 THEN relative_difference - relative_critical_value * relative_se END AS relative_ci_low,
  CASE WHEN relative_se > 0 THEN relative_difference + relative_critical_value * relative_se END AS relative_ci_high
FROM results
