-- standard_error: standard error of a mean, from the deviations of the values from it.
CREATE MACRO standard_error(influence, num_units, label, units) AS SQRT(SUM(influence * influence) / NULLIF(units - 1, 0) / NULLIF(units, 0))
