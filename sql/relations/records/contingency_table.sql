-- contingency_table: one row per group, predicted and true cluster that share records: overlap, both sizes, and flags to count each cluster once.
-- A cluster of s records has s (s - 1) ordered pairs, which is the sum of n (s - 1) over its rows: no pairs are formed.
-- Grain: group_id, predicted_cluster, unplaced_record_id, true_cluster, unlabeled_record_id
SELECT
  group_id, predicted_cluster,
  unplaced_record_id, -- the record, if it has no predicted cluster
  true_cluster,
  unlabeled_record_id, -- the record, if it has no true cluster
  n, -- records that both clusters share
  SUM(n) OVER (PARTITION BY group_id, predicted_cluster, unplaced_record_id) AS predicted_size, -- records of the predicted cluster
  SUM(n) OVER (PARTITION BY group_id, true_cluster, unlabeled_record_id) AS true_size, -- records of the true cluster
  CASE
    WHEN ROW_NUMBER() OVER (PARTITION BY group_id, predicted_cluster, unplaced_record_id ORDER BY n DESC) = 1 THEN 1
    ELSE 0
  END AS counts_predicted, -- 1 in one row per predicted cluster, to count them
  CASE
    WHEN ROW_NUMBER() OVER (PARTITION BY group_id, true_cluster, unlabeled_record_id ORDER BY n DESC) = 1 THEN 1
    ELSE 0
  END AS counts_true -- 1 in one row per true cluster, to count them
FROM cluster_overlaps
