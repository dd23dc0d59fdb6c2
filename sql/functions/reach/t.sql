-- How far an interval reaches to either side: a quantile of Student's t times the standard error; none where units do not differ.
-- Default: this one.
CREATE MACRO reach(value, se, units, quantile, ratio) AS CASE WHEN se > 1e-12 * ABS(value) THEN quantile * se END
