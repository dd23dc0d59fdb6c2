-- standard_error: standard error of AUC, DeLong's: for each class, sum of squared influence times n / (n - 1).
-- Source: DeLong, DeLong & Clarke-Pearson 1988.
CREATE MACRO standard_error(squares, units, positive_squares, positives, negative_squares, negatives) AS
  SQRT(delong_variance(positive_squares, positives, negative_squares, negatives))
