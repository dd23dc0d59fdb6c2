-- exceeds_rounding: true if squares about a mean are more than rounding errors of their terms and of the mean: else all values are equal.
CREATE MACRO exceeds_rounding(squares, square_terms, units, mean) AS
  squares > 1e-12 * square_terms AND squares > 1e-24 * units * mean * mean
