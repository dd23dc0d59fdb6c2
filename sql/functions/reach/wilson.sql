-- Wilson's interval for a share, with as many trials as would have its standard error; the number of units where they do not differ.
-- Source: Wilson 1927; Kott 2017; Franco, Little, Louis & Slud 2019.
CREATE MACRO reach(value, se, units, quantile, ratio) AS CASE
  WHEN se > 1e-12 AND value > 0 AND value < 1 THEN quantile * quantile * se * se / NULLIF(value * (1 - value), 0)
  WHEN se >= 0 AND units >= 2 THEN quantile * quantile / NULLIF(units, 0)
END
