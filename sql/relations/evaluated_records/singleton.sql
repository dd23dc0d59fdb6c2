-- evaluated_records: one row per record, with its predicted and its true cluster; a record without a true cluster is a cluster of its own.
-- Validate: no_shared_records
-- Grain: group_id, record_id
SELECT
  group_id,
  record_id,
  predicted_cluster,
  predicted_singleton,
  true_cluster,
  CASE WHEN true_cluster IS NULL THEN record_id END AS true_singleton
FROM predicted_records
