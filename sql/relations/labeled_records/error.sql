-- labeled_records: one row per record, with its true cluster; a record without one is an error.
-- Validate: no_true_cluster
-- Grain: group_id, record_id
SELECT
  group_id,
  record_id,
  true_cluster,
  CASE WHEN true_cluster IS NULL THEN record_id END AS true_singleton
FROM records
