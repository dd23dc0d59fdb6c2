-- MergeDistance: number of splits and merges that make the true clusters of the predicted ones.
--     MergeDistance = 2 overlaps - predicted clusters - true clusters, a row being an overlap of two clusters
-- Use when: people correct the clusters by splits and merges, and you want to know their work.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: Menestrina, Whang & Garcia-Molina 2010.
SELECT
  group_id,
  2 * COUNT(*) - SUM(counts_predicted) - SUM(counts_true) AS merge_distance
FROM contingency_table
GROUP BY group_id
