-- correlated_squares: sum of two squared margins, less twice their product times the correlation of the values, if they share units.
-- Source: Zou 2007.
CREATE MACRO correlated_squares(first, second, correlation) AS
  first * first + second * second - 2 * COALESCE(correlation, 0) * first * second
