-- standard_error: standard error of a mean, from the deviations of the values from it.
CREATE MACRO standard_error(influence, num_units, label) AS SQRT(SUM(influence * influence) / NULLIF(COUNT(influence) - 1, 0) / NULLIF(COUNT(influence), 0))
