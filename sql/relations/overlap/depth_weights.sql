-- depth_weights: one row per depth from 1 to 10,000: its weight p^d / d in rank-biased overlap, and the sum from it on.
-- The weights of all depths are -LN(1 - p) in all. What is beyond 10,000 is the rest of that, where it is more than a rounding error.
-- $p: number above 0 to 0.9999, default 0.9: persistence, the probability of going on to the next depth.
-- Nonzero: number.
-- Grain: depth
SELECT
  number AS depth,
  depth_weight,
  SUM(depth_weight) OVER (ORDER BY number DESC)
    + CASE WHEN 10000 * LN($p) > -27 THEN 0 - LN(1 - $p) - SUM(depth_weight) OVER () ELSE 0 END AS weight_from -- sum of this depth and all deeper ones
FROM (
  -- one row per integer
  SELECT
    number,
    exp_or_zero(number * LN($p)) / number AS depth_weight
  FROM numbers
) AS weights
