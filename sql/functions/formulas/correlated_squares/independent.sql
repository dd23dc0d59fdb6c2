-- correlated_squares: sum of two squared margins of independent values.
CREATE MACRO correlated_squares(first, second, correlation) AS first * first + second * second
