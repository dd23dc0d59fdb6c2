-- usual: the same with what is of all variants: how many units were seen in several, and what those that have a covariate have on average.
SELECT
  variant,
  units,
  SUM(crossed) OVER () AS crossed
FROM means
