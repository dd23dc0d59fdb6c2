-- labeled_records: one row per group and record: its true cluster or, if it has none, its own id as a singleton.
-- Grain: group_id, record_id
SELECT
  group_id, record_id, true_cluster,
  CASE WHEN true_cluster IS NULL THEN record_id END AS unlabeled_record_id -- the record, if it has no true cluster
FROM records
