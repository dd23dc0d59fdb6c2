-- standard_error: standard error of a mean, from the squared deviations of the values from it.
CREATE MACRO standard_error(squares, units, positive_squares, positives, negative_squares, negatives) AS
  SQRT(squares / NULLIF(units - 1, 0) / NULLIF(units, 0))
