-- RBOmin: the least rank-biased overlap that the list and the baseline's list can have, if they go on: the overlap of the documents in them.
-- It is a sum over the documents that both have of (1 - p) / p * W: W is the sum of p^d / d over all depths d at which both have it.
-- Full name: least rank-biased overlap.
-- Use when: you compare two rankings without judgments, and want a lower bound that needs no extrapolation.
-- $k: integer from 1 to 10000, default 1000: cut-off, the number of top-ranked documents of a list that count.
-- $p: number above 0 to 0.9999, default 0.9: persistence, the probability of going on to the next depth.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Range: 0 to 1.
-- Undefined: a query for which the list or the baseline's list is empty.
-- Direction: neither.
-- Reads: previous run as baseline.
-- Source: Webber, Moffat & Zobel 2010, equation 11.
SELECT
  list_id,
  smaller(SUM(is_shared * ((1 - $p) / $p * weight_from)), 1) AS rbo_min -- no more than 1, whatever the rounding of the sum
FROM overlap_weights
GROUP BY list_id
