-- adjusted_variance: se^2, enlarged by inflation, weights and the greater t quantile at effective_df.
-- As for units of equal weight, with the effective sample size in place of the number of units.
-- Source: Satterthwaite 1946; Kish 1965.
CREATE MACRO adjusted_variance(se, inflation, units, size, freedom, above, below, growth) AS CASE
  WHEN units > 4
    THEN se * se * (size / NULLIF(size - 1, 0)) * ((units - 1) / NULLIF(units, 0)) * inflation
      * (freedom + above) / NULLIF(freedom - below, 0) / NULLIF(growth, 0)
  ELSE se * se
END
