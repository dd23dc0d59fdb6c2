-- relative_intervals: one row per metric and treatment: limits of the interval of its relative difference, symmetric on a logarithmic scale.
-- Limits more than e^200 times as high or low as the ratio are NULL: they say nothing, and no double holds much more.
-- Its two expressions replace $relative_ci_low and $relative_ci_high in results.sql.
-- Grain: rows of results
SELECT
  CASE
    WHEN relative_critical_value < 200 / NULLIF(relative_se, 0)
      THEN (1 + relative_difference) * EXP(-relative_critical_value * relative_se) - 1
  END AS relative_ci_low,
  CASE
    WHEN relative_critical_value < 200 / NULLIF(relative_se, 0)
      THEN (1 + relative_difference) * EXP(relative_critical_value * relative_se) - 1
  END AS relative_ci_high
FROM results
