-- signed_rank_sums: one row per group, metric and pair of systems: ranked units, Wilcoxon's signed-rank sum, and its tie correction.
-- Source: Wilcoxon 1945; the correction for ties as in Hollander & Wolfe 1999, section 3.1.
-- Grain: cell, pair, metric
SELECT
  cell, -- number of the group
  metric, pair,
  SUM(num_units) AS num_ranked_units, -- units with a difference other than 0
  SUM(num_better * average_rank) AS rank_sum, -- of the units in which the system is better
  SUM(CAST(num_units AS DOUBLE) * num_units * num_units - num_units) AS tie_term -- correction of the variance for ties
FROM absolute_difference_ranks
GROUP BY cell, pair, metric
