-- RankQuantile: the least cut-off within which a share q of the queries have a relevant document.
-- The share is lowered by the rounding of its product with the number of lists.
-- Use when: you choose how many passages to send to a model, and want an answer in them for 90 % of the questions.
-- $q: number above 0 to 1, default 0.9: the share of the queries.
-- Interval: none (RankQuantileBound is its upper limit)
-- Range: 1 to inf.
-- Direction: lower.
-- Undefined: fewer than a share q of the queries with relevant documents have one in their lists.
-- Source: the quantile of the inverted empirical distribution, numpy.quantile with method inverted_cdf.
SELECT
  group_id,
  MIN(CASE WHEN place >= $q * num_lists - 0.000000001 THEN hit_rank END) AS rank_quantile
FROM hit_order
GROUP BY group_id
