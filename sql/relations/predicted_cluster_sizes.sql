-- predicted_cluster_sizes: one row per group and size of predicted clusters, with the number of clusters of that size.
-- Grain: group_id, size
SELECT
  group_id,
  CAST(predicted_size AS BIGINT) AS size,
  SUM(counts_predicted) AS num_clusters
FROM contingency_table
WHERE counts_predicted = 1
GROUP BY group_id, predicted_size
