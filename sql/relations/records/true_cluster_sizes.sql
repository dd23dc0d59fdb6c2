-- true_cluster_sizes: one row per group and size of a true cluster: the number of clusters of that size.
-- counts_true is 1 in one row of each true cluster.
-- Grain: group_id, size
SELECT
  group_id,
  CAST(true_size AS BIGINT) AS size, -- records of the cluster
  SUM(counts_true) AS num_clusters -- true clusters of this size
FROM contingency_table
WHERE counts_true = 1
GROUP BY group_id, true_size
