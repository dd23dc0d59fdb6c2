-- Rand: Rand index: share of all pairs of records on which both clusterings agree, together or apart.
--     Rand = (A + 2 S - P - T) / A
-- Of all A ordered pairs of records, P are in one predicted cluster, T in one true cluster, and S in both.
-- Full name: Rand index.
-- Use when: you compare with publications that report it. It is near 1 for many small clusters, so prefer AdjustedRand.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: fewer than two records.
-- Source: Rand 1971.
SELECT
  group_id,
  (SUM(n) * (SUM(n) - 1) + 2 * SUM(n * (n - 1)) - SUM(n * (predicted_size - 1)) - SUM(n * (true_size - 1)))
    / NULLIF(SUM(n) * (SUM(n) - 1), 0) AS rand
FROM contingency_table
GROUP BY group_id
