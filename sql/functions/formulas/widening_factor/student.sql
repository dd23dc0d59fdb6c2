-- widening_factor: quotient of two quantiles of Student's t, by which one of several intervals widens; 1 for a single one.
-- Both are made of normal quantiles. From a million units on they are these.
-- Nonzero: single_quantile.
CREATE MACRO widening_factor(intervals, units, quantile, single_quantile, inverse_df) AS CASE
  WHEN intervals <= 1 THEN 1
  WHEN units > 1000000 THEN quantile / single_quantile
  ELSE SQRT((EXP(quantile * quantile * inverse_df) - 1) / NULLIF(EXP(single_quantile * single_quantile * inverse_df) - 1, 0))
END
