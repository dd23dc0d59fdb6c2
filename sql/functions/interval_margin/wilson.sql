-- interval_margin: Wilson's interval for a share, with the number of trials that gives its standard error.
-- If no unit differs, it is the number of units.
-- Source: Wilson 1927; Kott 2017; Franco, Little, Louis & Slud 2019.
CREATE MACRO interval_margin(value, se, units, quantile, ratio) AS CASE
  WHEN se > 1e-12 AND value > 0 AND value < 1 THEN quantile * quantile * se * se / NULLIF(value * (1 - value), 0)
  WHEN se >= 0 AND units >= 2 THEN quantile * quantile / NULLIF(units, 0)
END
