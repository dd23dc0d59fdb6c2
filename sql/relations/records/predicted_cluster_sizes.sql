-- predicted_cluster_sizes: one row per group and size of a predicted cluster: the number of clusters of that size.
-- counts_predicted is 1 in one row of each predicted cluster.
-- Grain: group_id, size
SELECT
  group_id,
  CAST(predicted_size AS BIGINT) AS size, -- records of the cluster
  SUM(counts_predicted) AS num_clusters -- predicted clusters of this size
FROM contingency_table
WHERE counts_predicted = 1
GROUP BY group_id, predicted_size
