-- One row per cell, metric and pair: the sum of the ranks of units for which the second system is better, and what ties take away.
-- Source: Wilcoxon 1945; the correction for ties as in Hollander & Wolfe 1999, section 3.1.
SELECT
  cell,
  metric,
  pair,
  SUM(units) AS ranked_units,
  SUM(above * average_rank) AS rank_sum,
  SUM(CAST(units AS DOUBLE) * units * units - units) AS tie_term
FROM sizes
GROUP BY cell, pair, metric
