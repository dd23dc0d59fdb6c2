-- adjusted_variance: variance of a metric for its interval, the squared standard error adjusted for few influential units.
-- The adjustment replaces the number of units by the effective number of trials, adds twice the excess kurtosis over the units, and
-- multiplies by the ratio of squared quantiles of Student's t at both degrees of freedom. It is 1 where weights are equal and no few
-- units dominate. The square of a quantile of t is about (freedom + above) / (freedom - below) times that of the normal distribution.
-- Source: Satterthwaite 1946; Kish 1965; the factor 2 of the excess kurtosis is chosen by simulation, benchmarks/coverage.py.
CREATE MACRO adjusted_variance(se, concentration, units, trials, freedom, above, below) AS CASE
  WHEN units > 4
    THEN se * se * (trials / NULLIF(trials - 1, 0) * ((units - 1) / NULLIF(units, 0)))
      * (1 + CASE WHEN concentration < 2 AND concentration * units > 3 THEN 2 * (concentration - 3 / NULLIF(units, 0)) ELSE 0 END)
      * ((freedom + above) / NULLIF(freedom - below, 0) * ((units - 1 - below) / NULLIF(units - 1 + above, 0)))
  ELSE se * se
END
