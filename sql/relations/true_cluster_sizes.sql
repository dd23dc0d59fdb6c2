-- true_cluster_sizes: one row per group and size of true clusters, with the number of clusters of that size.
-- Grain: group_id, size
SELECT
  group_id,
  CAST(true_size AS BIGINT) AS size,
  SUM(counts_true) AS num_clusters
FROM contingency_table
WHERE counts_true = 1
GROUP BY group_id, true_size
