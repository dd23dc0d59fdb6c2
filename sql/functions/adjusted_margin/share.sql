-- adjusted_margin: margin of Wilson's interval for a share, from a variance adjusted for few influential units.
-- If the variance is at most that of a proportion of as many trials, it is not enlarged beyond the latter, which is the greatest that
-- a share can have. If no unit differs, the number of trials decides.
-- Source: Wilson 1927; Kott 2017; Franco, Little, Louis & Slud 2019.
CREATE MACRO adjusted_margin(value, se, units, trials, variance, ceiling, quantile) AS CASE
  WHEN se > 1e-12 AND value > 0 AND value < 1
    AND variance * (trials - 1) > value * (1 - value) * ceiling
    AND se * se * trials * (units - 1) <= value * (1 - value) * units * (1 + 1e-9)
    THEN quantile * quantile * ceiling / NULLIF(trials - 1, 0)
  WHEN se > 1e-12 AND value > 0 AND value < 1 THEN quantile * quantile * variance / NULLIF(value * (1 - value), 0)
  WHEN se >= 0 AND units >= 2 THEN quantile * quantile * ceiling / NULLIF(trials, 0)
END
