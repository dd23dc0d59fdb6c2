-- num_true_clusters: number of true clusters.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(counts_true) AS num_true_clusters
FROM contingency_table
GROUP BY group_id
