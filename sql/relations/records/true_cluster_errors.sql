-- true_cluster_errors: one row per group and true cluster or singleton: records, predicted clusters, found and false links, and B-cubed sums.
-- The n of a row of the contingency table is the number of records that the cluster shares with a predicted one.
-- A false link joins a record of the cluster and one of another true cluster in a predicted cluster.
-- Nonzero: predicted_size.
-- Grain: group_id, true_cluster, unlabeled_record_id
SELECT
  group_id, true_cluster,
  unlabeled_record_id, -- the record, if it has no true cluster
  SUM(n) AS records, -- of the cluster
  COUNT(*) AS num_predicted_clusters, -- predicted clusters that its records are in
  SUM(n * (n - 1)) / 2 AS found_links, -- pairs of its records in one predicted cluster
  SUM(n * (predicted_size - n)) AS false_links, -- pairs with another true cluster, once from each
  SUM(n * n / predicted_size) AS bcubed_precision_sum, -- sum of B-cubed precision of its records
  SUM(n * n) AS overlap_squares -- sum of squared overlaps
FROM contingency_table
GROUP BY group_id, true_cluster, unlabeled_record_id
