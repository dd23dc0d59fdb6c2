-- interval_margin: Wilson's interval for an AUC, with at least the variance of Hanley and McNeil.
-- DeLong's variance is far too small if the few positives are all near the top. The ratio is the variance of Hanley and McNeil over
-- AUC (1 - AUC), at an AUC shrunk towards 1/2.
-- Source: Hanley & McNeil 1982; Wilson 1927.
CREATE MACRO interval_margin(value, se, units, quantile, ratio) AS CASE
  WHEN se > 1e-12 AND value > 0 AND value < 1 AND se * se > value * (1 - value) * ratio
    THEN quantile * quantile * se * se / NULLIF(value * (1 - value), 0)
  WHEN se >= 0 THEN quantile * quantile * ratio
END
