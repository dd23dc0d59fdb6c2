-- tails: one row per metric and variant: the logarithm of the chance of a difference as far from 0 if there is none, by Student's t.
SELECT
  metric,
  variant,
  log_p
FROM nearer
WHERE purpose = 'p'
