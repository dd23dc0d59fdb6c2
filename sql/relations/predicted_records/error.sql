-- predicted_records: one row per record, with its predicted and its true cluster; a record without a predicted cluster is an error.
-- Validate: no_predicted_cluster
-- Grain: group_id, record_id
SELECT
  group_id,
  record_id,
  predicted_cluster,
  CASE WHEN predicted_cluster IS NULL THEN record_id END AS predicted_singleton,
  true_cluster
FROM records
