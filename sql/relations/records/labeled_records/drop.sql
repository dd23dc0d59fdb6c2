-- labeled_records: one row per group and record that has a true cluster: its true cluster.
-- Grain: group_id, record_id
SELECT
  group_id, record_id, true_cluster,
  NULL AS unlabeled_record_id -- every record has a true cluster
FROM records
WHERE true_cluster IS NOT NULL
