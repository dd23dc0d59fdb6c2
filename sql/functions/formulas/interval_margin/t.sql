-- interval_margin: margin on both sides of an interval: a quantile of t times the standard error; NULL if no unit differs.
CREATE MACRO interval_margin(value, se, variance, quantile) AS CASE WHEN se > 1e-12 * ABS(value) THEN quantile * se END
