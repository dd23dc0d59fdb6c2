-- depth_weights: one row per depth from 1 to 10,000: its weight p^d / d in rank-biased overlap, and the sum down to it.
-- $p: number above 0 to 0.9999, default 0.9: persistence, the probability of going on to the next depth.
-- Nonzero: number.
-- Grain: depth
SELECT
  number AS depth,
  depth_weight,
  SUM(depth_weight) OVER (ORDER BY number) AS cumulative_weight -- sum down to this depth
FROM (
  -- one row per integer
  SELECT
    number,
    CASE WHEN number * LN($p) < -700 THEN 0 ELSE EXP(number * LN($p)) / number END AS depth_weight
  FROM numbers
) AS weights
