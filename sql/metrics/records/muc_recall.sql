-- MUCRecall: links that both clusterings need to hold their clusters together, as a share of those of the true ones.
--     MUCRecall = (records - overlaps) / (records - true clusters), a row being an overlap of two clusters
-- Use when: you compare with work on coreference. It ignores singletons.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no true cluster of two records.
-- Source: Vilain et al. 1995.
SELECT
  group_id,
  (SUM(n) - COUNT(*)) / NULLIF(SUM(n) - SUM(counts_true), 0) AS muc_recall
FROM contingency_table
GROUP BY group_id
