-- MUCF: harmonic mean of MUC precision and recall.
--     MUCF = 2 (records - overlaps) / (2 records - predicted clusters - true clusters), a row being an overlap of two clusters
-- Full name: MUC F measure.
-- Use when: you compare with work on coreference. It ignores singletons, so add BCubedF.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no cluster of two records on either side.
-- Source: Vilain et al. 1995.
SELECT
  group_id,
  2 * (SUM(n) - COUNT(*)) / NULLIF(2 * SUM(n) - SUM(counts_predicted) - SUM(counts_true), 0) AS muc_f
FROM contingency_table
GROUP BY group_id
