-- MUCPrecision: links that both clusterings need to hold their clusters together, as a share of those of the predicted ones.
--     MUCPrecision = (records - overlaps) / (records - predicted clusters), a row being an overlap of two clusters
-- Use when: you compare with work on coreference. It ignores singletons.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no predicted cluster of two records.
-- Source: Vilain et al. 1995.
SELECT
  group_id,
  (SUM(n) - COUNT(*)) / NULLIF(SUM(n) - SUM(counts_predicted), 0) AS muc_precision
FROM contingency_table
GROUP BY group_id
