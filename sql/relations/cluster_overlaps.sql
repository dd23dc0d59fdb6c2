-- cluster_overlaps: one row per predicted and true cluster that share records, with the number of shared records.
-- A record without a cluster is a cluster of its own: its cluster is NULL, and the singleton column has its id.
-- Grain: group_id, predicted_cluster, predicted_singleton, true_cluster, true_singleton
SELECT
  group_id,
  predicted_cluster,
  predicted_singleton,
  true_cluster,
  true_singleton,
  CAST(COUNT(*) AS DOUBLE) AS n
FROM evaluated_records
GROUP BY group_id, predicted_cluster, predicted_singleton, true_cluster, true_singleton
