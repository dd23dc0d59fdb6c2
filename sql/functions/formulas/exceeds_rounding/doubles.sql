-- exceeds_rounding: true if squares about a mean are more than rounding errors of their terms and of the mean: else all values are equal.
-- Doubles have 16 digits, of which sums of many rows may lose 4, so a relative 1e-12 is noise. About a mean it is 1e-12 of the mean, squared.
-- Without terms of other sign, as for a mean, square_terms are the squares, and the first condition is that they are above 0.
CREATE MACRO exceeds_rounding(squares, square_terms, units, mean) AS
  squares > 1e-12 * square_terms AND squares > 1e-24 * units * mean * mean
