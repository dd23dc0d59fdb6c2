-- Wilson's interval for the area under a curve, with no less than the variance that Hanley and McNeil give: that of DeLong is far
-- too small where few positives stand all near the top. ratio is the latter over area * (1 - area), at an area drawn towards 1/2.
-- Source: Hanley & McNeil 1982; Wilson 1927.
CREATE MACRO reach(value, se, units, quantile, ratio) AS CASE
  WHEN se > 1e-12 AND value > 0 AND value < 1 AND se * se > value * (1 - value) * ratio
    THEN quantile * quantile * se * se / NULLIF(value * (1 - value), 0)
  WHEN se >= 0 THEN quantile * quantile * ratio
END
