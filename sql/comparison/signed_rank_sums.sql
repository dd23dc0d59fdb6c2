-- signed_rank_sums: one row per group, metric and pair of systems, with Wilcoxon's signed-rank sum and its correction for ties.
-- Source: Wilcoxon 1945; the correction for ties as in Hollander & Wolfe 1999, section 3.1.
-- Grain: cell, pair, metric
SELECT
  cell,
  metric,
  pair,
  SUM(units) AS ranked_units,
  SUM(above * average_rank) AS rank_sum,
  SUM(CAST(units AS DOUBLE) * units * units - units) AS tie_term
FROM absolute_difference_ranks
GROUP BY cell, pair, metric
