-- evaluated_records: one row per group and record: its predicted and true cluster, or its own id as a singleton where it has none.
-- Validate: no_shared_records
-- Grain: group_id, record_id
SELECT
  group_id, record_id, predicted_cluster,
  unplaced_record_id, -- the record, if it has no predicted cluster
  true_cluster,
  CASE WHEN true_cluster IS NULL THEN record_id END AS unlabeled_record_id -- the record, if it has no true cluster
FROM predicted_records
