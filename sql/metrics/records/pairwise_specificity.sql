-- PairwiseSpecificity: share of the pairs of records in different true clusters that are in different predicted ones.
--     PairwiseSpecificity = (A + S - P - T) / (A - T)
-- Of all A ordered pairs of records, P are in one predicted cluster, T in one true cluster, and S in both.
-- Use when: you compare with a binary classifier of pairs. It is near 1 in almost all data, so prefer PairwisePrecision.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: one true cluster.
-- Source: Barnes 2015.
SELECT
  group_id,
  (SUM(n) * (SUM(n) - 1) + SUM(n * (n - 1)) - SUM(n * (predicted_size - 1)) - SUM(n * (true_size - 1)))
    / NULLIF(SUM(n) * (SUM(n) - 1) - SUM(n * (true_size - 1)), 0) AS pairwise_specificity
FROM contingency_table
GROUP BY group_id
