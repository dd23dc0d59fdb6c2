-- quantile_growth_limit: ratio of the squared quantiles of Student's t at trials - 1 and at units - 1 degrees of freedom.
CREATE MACRO quantile_growth_limit(units, trials, above, below) AS CASE
  WHEN units > 4 AND trials > 4
    THEN (trials - 1 + above) / NULLIF(trials - 1 - below, 0) * ((units - 1 - below) / NULLIF(units - 1 + above, 0))
  WHEN units > 4 THEN (3 + above) / NULLIF(3 - below, 0) * ((units - 1 - below) / NULLIF(units - 1 + above, 0))
  ELSE 1
END
