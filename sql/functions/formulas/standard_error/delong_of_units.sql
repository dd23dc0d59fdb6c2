-- standard_error: standard error of an AUC over units of several rows: DeLong's, or that of units of one sample if some have rows of both classes.
-- Source: DeLong, DeLong & Clarke-Pearson 1988.
CREATE MACRO standard_error(squares, units, positive_squares, positives, negative_squares, negatives) AS SQRT(
  CASE
    WHEN positives + negatives > units THEN (positive_squares + negative_squares) * units / NULLIF(units - 1, 0)
    ELSE delong_variance(positive_squares, positives, negative_squares, negatives)
  END
)
