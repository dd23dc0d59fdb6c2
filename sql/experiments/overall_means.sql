-- overall_means: one row per variant, with its means, and over all variants the units in several variants and the mean covariate.
SELECT
  variant,
  units,
  SUM(crossed) OVER () AS crossed
FROM variant_means
