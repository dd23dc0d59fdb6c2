-- true_cluster_errors: one row per true cluster, with its records, its predicted clusters, its found links, and the false links of its records.
-- A false link joins a record of the cluster and one of another true cluster in a predicted cluster.
-- Nonzero: predicted_size.
-- Grain: group_id, true_cluster, true_singleton
SELECT
  group_id,
  true_cluster,
  true_singleton,
  SUM(n) AS records,
  COUNT(*) AS num_predicted_clusters,
  SUM(n * (n - 1)) / 2 AS found_links,
  SUM(n * (predicted_size - n)) AS false_links,
  SUM(n * n / predicted_size) AS bcubed_precision_sum,
  SUM(n * n) AS overlap_squares
FROM contingency_table
GROUP BY group_id, true_cluster, true_singleton
