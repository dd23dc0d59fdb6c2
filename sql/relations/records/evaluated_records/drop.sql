-- evaluated_records: one row per group and record that has a true cluster: its true and predicted cluster, and its own id if it lacks the latter.
-- Validate: no_shared_records
-- Grain: group_id, record_id
SELECT
  group_id, record_id, predicted_cluster,
  unplaced_record_id, -- the record, if it is a cluster of its own
  true_cluster, -- never NULL
  NULL AS unlabeled_record_id -- every record has a true cluster
FROM predicted_records
WHERE true_cluster IS NOT NULL
