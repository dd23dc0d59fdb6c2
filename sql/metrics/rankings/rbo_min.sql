-- RBOmin: the least rank-biased overlap that the list and the baseline's list can have, if they go on: the overlap of the documents in them.
-- It is (1 - p) / p times the sum of p^d / d * (documents that both have down to d) over all depths d, of which no further are shared beyond
-- the ends. The weights p^d / d of all depths are -ln(1 - p) in all. Those beyond the ends count where they are more than a rounding error.
-- Full name: least rank-biased overlap.
-- Use when: you compare two rankings without judgments, and want a lower bound that needs no extrapolation.
-- $k: integer from 1 to 10000, default 1000: cut-off, the number of top-ranked documents of a list that count.
-- $p: number above 0 to 0.9999, default 0.9: persistence, the probability of going on to the next depth.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Range: 0 to 1.
-- Undefined: a query for which the list or the baseline's list is empty.
-- Direction: neither.
-- Reads: previous run as baseline.
-- Nonzero: 1 - $p, depth.
-- Source: Webber, Moffat & Zobel 2010, equation 11.
SELECT
  list_id,
  smaller(
    (1 - $p) / $p * (
      SUM(num_shared * exp_or_zero(depth * LN($p)) / depth)
      + CASE
        WHEN MAX(depth) * LN($p) > -27
          THEN MAX(num_shared) * (log1p($p / (1 - $p)) - SUM(exp_or_zero(depth * LN($p)) / depth))
        ELSE 0
      END
    ),
    1
  ) AS rbo_min -- no more than 1, whatever the rounding of the sum
FROM depth_agreements
GROUP BY list_id
