-- filled: the same with the means of covariates if units without one have what is usual.
SELECT
  variant,
  units,
  crossed
FROM usual
