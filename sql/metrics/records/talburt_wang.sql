-- TalburtWang: Talburt-Wang index: geometric mean of the numbers of clusters over the number of their overlaps.
--     TalburtWang = sqrt(predicted clusters * true clusters) / overlaps, a row being an overlap of two clusters
-- Full name: Talburt-Wang index.
-- Use when: you want a quick index from counts of clusters, without forming pairs.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records.
-- Source: Talburt 2011.
SELECT
  group_id,
  SQRT(SUM(counts_predicted) / NULLIF(COUNT(*), 0) * (SUM(counts_true) / NULLIF(COUNT(*), 0))) AS talburt_wang
FROM contingency_table
GROUP BY group_id
