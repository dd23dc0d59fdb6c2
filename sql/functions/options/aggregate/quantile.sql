-- aggregate: quantile over queries, interpolated between the two nearest values.
-- $q: number from 0 to 1, default 0.5: 0.5 is the median.
CREATE MACRO aggregate(value, weight) AS QUANTILE_CONT(value, $q)
