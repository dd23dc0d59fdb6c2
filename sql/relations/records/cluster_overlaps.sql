-- cluster_overlaps: one row per group, predicted and true cluster that share records: both, ids of records without one, and number of shared records.
-- A record without a cluster is a cluster of its own: its cluster is NULL, and the singleton column has its id.
-- Grain: group_id, predicted_cluster, unplaced_record_id, true_cluster, unlabeled_record_id
SELECT
  group_id, predicted_cluster,
  unplaced_record_id, -- the record, if it has no predicted cluster
  true_cluster,
  unlabeled_record_id, -- the record, if it has no true cluster
  CAST(COUNT(*) AS DOUBLE) AS n -- records that both clusters share
FROM evaluated_records
GROUP BY group_id, predicted_cluster, unplaced_record_id, true_cluster, unlabeled_record_id
