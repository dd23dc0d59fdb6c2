-- PairwiseRecall: share of the pairs of records in one true cluster that are in one predicted cluster.
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
