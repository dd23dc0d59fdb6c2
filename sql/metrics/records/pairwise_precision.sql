-- PairwisePrecision: share of the pairs of records in one predicted cluster that are in one true cluster.
--     PairwisePrecision = sum of n (n - 1) / sum of n (s - 1)
-- n is the number of records that a true cluster has in a predicted one, whose size is s.
-- Use when: a wrong link is expensive, as in merging patients or accounts. Large clusters dominate.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no predicted cluster of two records.
-- Source: Menestrina, Whang & Garcia-Molina 2010.
SELECT
  group_id,
  SUM(n * (n - 1)) / NULLIF(SUM(n * (predicted_size - 1)), 0) AS pairwise_precision
FROM contingency_table
GROUP BY group_id
