-- standard_error: standard error of AUC, DeLong's: for each class, sum of squared influence times n / (n - 1).
-- Positives and negatives are two independent samples.
-- Source: DeLong, DeLong & Clarke-Pearson 1988.
CREATE MACRO standard_error(squares, units, positive_squares, positives, negative_squares, negatives) AS SQRT(
  positive_squares * positives / NULLIF(positives - 1, 0) + negative_squares * negatives / NULLIF(negatives - 1, 0)
)
