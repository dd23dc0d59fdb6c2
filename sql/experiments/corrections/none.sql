-- corrected: the same without a correction.
SELECT
  metric,
  variant,
  p,
  p AS p_adjusted
FROM tests
