-- RankQuantileBound: upper limit of RankQuantile over all queries of the kind, whatever the distribution of ranks.
-- It is the least order statistic u with P(Binomial(n, q) < u) >= level.
-- Use when: you choose a cut-off from a sample of queries, and it has to hold for those to come.
-- $q: number above 0 to 1, default 0.9: the share of the queries.
-- $bound: number above 0 to 1, default 0.95: probability that the limit is not below the quantile of all queries.
-- Interval: none (it is a limit of RankQuantile)
-- Range: 1 to inf.
-- Direction: lower.
-- Undefined: too few queries, such as fewer than 29 for 0.9 and 0.95, or the list at the limit has no relevant document.
-- Source: Thompson 1936; Conover 1999, section 3.2.
SELECT
  group_id,
  MIN(CASE WHEN bound_confidence >= $bound THEN hit_rank END) AS rank_quantile_bound
FROM hit_order
GROUP BY group_id
