-- Standard error of a mean, from how far each value is from it.
CREATE MACRO standard_error(influence, alike, label) AS SQRT(SUM(influence * influence) / NULLIF(COUNT(influence) - 1, 0) / NULLIF(COUNT(influence), 0))
