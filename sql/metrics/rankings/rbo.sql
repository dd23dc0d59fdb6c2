-- RBO: rank-biased overlap of the list and the baseline's list, extrapolated beyond the ends of both (RBO_ext).
--     RBO = (1 - p) sum over depths d of p^(d-1) * (documents that both have down to d) / d, and beyond as at the ends
-- The end of the longer list carries the weight of all depths beyond.
-- Ties are broken as the policy ties says. A deeper list is cut at k, which carries a weight of p^k.
-- Full name: rank-biased overlap.
-- Use when: you compare two rankings without judgments, and the top counts most.
-- $k: integer from 1 to 10000, default 1000: cut-off, the number of top-ranked documents of a list that count.
-- $p: number above 0 to 0.9999, default 0.9: persistence, the probability of going on to the next depth.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Range: 0 to 1.
-- Undefined: a query for which the list or the baseline's list is empty.
-- Direction: neither.
-- Reads: previous run as baseline.
-- Source: Webber, Moffat & Zobel 2010, equation 32.
SELECT
  list_id,
  CASE
    WHEN MIN(agreement) = 1 THEN 1
    ELSE smaller(SUM(CASE WHEN is_last = 1 THEN 1 ELSE 1 - $p END * exp_or_zero((depth - 1) * LN($p)) * agreement), 1)
  END AS rbo -- 1 if the documents of the shorter list are the first of the other
FROM depth_agreements
GROUP BY list_id
