-- KendallTau: Kendall's tau: concordant less discordant pairs, over the geometric mean of the pairs untied in label and the pairs untied in score (tau-b by default).
--     tau = (concordant - discordant) / denominator
-- Pairs of predictions are counted, each by the product of their weights.
-- Full name: Kendall's tau.
-- Use when: you compare two orders of the same rows, such as a cheap label with an expensive one, and all pairs count the same.
-- tau: default b: denominator of concordant less discordant pairs.
-- Interval: bootstrap (pairs are counted per group, and not per row)
-- Range: -1 to 1.
-- Undefined: labels or scores that are all the same; for tau=a fewer than two predictions.
-- Source: Kendall 1945; scipy kendalltau (b, c); Goodman & Kruskal 1954 (gamma, which TorchMetrics calls a).
SELECT
  group_id,
  SUM(concordant - discordant) / NULLIF(SUM(denominator), 0) AS kendall_tau
FROM tau_terms
GROUP BY group_id
