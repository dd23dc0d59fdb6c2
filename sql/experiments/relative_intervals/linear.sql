-- relative_intervals: limits of the interval of a relative difference, symmetric about it.
-- Grain: rows of results
SELECT
  CASE WHEN relative_se > 0 THEN relative_difference - relative_critical_value * relative_se END AS relative_ci_low,
  CASE WHEN relative_se > 0 THEN relative_difference + relative_critical_value * relative_se END AS relative_ci_high
FROM results
