-- relative_intervals: one row per metric and treatment: limits of the interval of its relative difference, symmetric about it.
-- Grain: rows of results
SELECT
  relative_difference - relative_critical_value * relative_se AS relative_ci_low,
  relative_difference + relative_critical_value * relative_se AS relative_ci_high
FROM results
