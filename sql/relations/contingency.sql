-- contingency: one row per predicted and true cluster that share n records, with the sizes of both; a cluster of size n is in
-- this row alone. One row of each cluster is its first, with the most records: a 1 that stands for the cluster in sums.
-- A cluster of s records has s (s - 1) ordered pairs, which is the sum of n (s - 1) over its rows, so that no pair is formed.
SELECT
  group_id,
  predicted_cluster,
  predicted_alone,
  true_cluster,
  true_alone,
  n,
  SUM(n) OVER (PARTITION BY group_id, predicted_cluster, predicted_alone) AS predicted_size,
  SUM(n) OVER (PARTITION BY group_id, true_cluster, true_alone) AS true_size,
  CASE WHEN ROW_NUMBER() OVER (PARTITION BY group_id, predicted_cluster, predicted_alone ORDER BY n DESC) = 1 THEN 1 ELSE 0 END AS predicted_first,
  CASE WHEN ROW_NUMBER() OVER (PARTITION BY group_id, true_cluster, true_alone ORDER BY n DESC) = 1 THEN 1 ELSE 0 END AS true_first
FROM cells
