-- evaluated_records: one row per record, with its predicted and its true cluster; a record without a true cluster is an error.
-- Validate: no_true_cluster
-- Grain: group_id, record_id
SELECT
  group_id,
  record_id,
  predicted_cluster,
  predicted_singleton,
  true_cluster,
  CASE WHEN true_cluster IS NULL THEN record_id END AS true_singleton
FROM predicted_records
