-- quantile_growth_limit: ratio of squared quantiles of Student's t at the effective size less 1 and at units - 1 degrees of freedom.
CREATE MACRO quantile_growth_limit(units, size, above, below, growth) AS CASE
  WHEN units > 4 AND size > 4 THEN (size - 1 + above) / NULLIF(size - 1 - below, 0) / NULLIF(growth, 0)
  WHEN units > 4 THEN (3 + above) / NULLIF(3 - below, 0) / NULLIF(growth, 0)
  ELSE 1
END
