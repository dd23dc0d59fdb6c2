-- PairwiseRecall: share of the pairs of records in one true cluster that are in one predicted cluster.
--     PairwiseRecall = sum of n (n - 1) / sum of n (s - 1)
-- n is the number of records that a predicted cluster has in a true one, whose size is s.
-- Use when: a missed link is expensive, as in fraud rings or duplicate mail. Large clusters dominate.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no true cluster of two records.
-- Source: Menestrina, Whang & Garcia-Molina 2010.
SELECT
  group_id,
  SUM(n * (n - 1)) / NULLIF(SUM(n * (true_size - 1)), 0) AS pairwise_recall
FROM contingency_table
GROUP BY group_id
