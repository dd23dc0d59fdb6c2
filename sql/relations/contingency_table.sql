-- contingency_table: one row per predicted and true cluster that share records, with the number of shared records and both cluster sizes.
-- The columns counts_predicted and counts_true are 1 in one row of each cluster, that of most shared records, so that their sums count
-- clusters. A cluster of s records has s (s - 1) ordered pairs, which is the sum of n (s - 1) over its rows: no pairs are formed.
-- Grain: group_id, predicted_cluster, predicted_singleton, true_cluster, true_singleton
SELECT
  group_id,
  predicted_cluster,
  predicted_singleton,
  true_cluster,
  true_singleton,
  n,
  SUM(n) OVER (PARTITION BY group_id, predicted_cluster, predicted_singleton) AS predicted_size,
  SUM(n) OVER (PARTITION BY group_id, true_cluster, true_singleton) AS true_size,
  CASE WHEN ROW_NUMBER() OVER (PARTITION BY group_id, predicted_cluster, predicted_singleton ORDER BY n DESC) = 1 THEN 1 ELSE 0 END AS counts_predicted,
  CASE WHEN ROW_NUMBER() OVER (PARTITION BY group_id, true_cluster, true_singleton ORDER BY n DESC) = 1 THEN 1 ELSE 0 END AS counts_true
FROM cluster_overlaps
