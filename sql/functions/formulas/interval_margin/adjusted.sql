-- interval_margin: margin on both sides of an interval: a quantile of t times the root of a variance adjusted for few influential units.
-- It is NULL if no unit differs.
CREATE MACRO interval_margin(value, se, variance, quantile) AS CASE WHEN se > 1e-12 * ABS(value) THEN quantile * SQRT(variance) END
