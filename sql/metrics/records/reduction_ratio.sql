-- ReductionRatio: share of all pairs of records that are not in one predicted cluster, and need not be compared if clusters are blocks.
--     ReductionRatio = 1 - pairs in one predicted cluster / pairs of records
-- A cluster of s records has s (s - 1) ordered pairs, the sum of n (s - 1) over the rows of its n records in each true cluster.
-- Use when: clusters are blocks, and you want to know how many comparisons they save.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: fewer than two records.
-- Source: Elfeky, Verykios & Elmagarmid 2002.
SELECT
  group_id,
  1 - SUM(n * (predicted_size - 1)) / NULLIF(SUM(n) * (SUM(n) - 1), 0) AS reduction_ratio
FROM contingency_table
GROUP BY group_id
