-- ReductionRatio: share of all pairs of records that are not in one predicted cluster, and need not be compared if clusters are blocks.
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
