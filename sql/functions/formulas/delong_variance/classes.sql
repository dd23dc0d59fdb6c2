-- delong_variance: for each class, sum of squared influence times n / (n - 1), as of two independent samples.
-- Source: DeLong, DeLong & Clarke-Pearson 1988.
CREATE MACRO delong_variance(positive_squares, positives, negative_squares, negatives) AS
  positive_squares * positives / NULLIF(positives - 1, 0) + negative_squares * negatives / NULLIF(negatives - 1, 0)
