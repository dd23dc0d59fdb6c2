-- labeled_records: one row per group and record that has a true cluster: its true cluster, and NULL for a singleton's id.
-- Grain: group_id, record_id
SELECT
  group_id,
  record_id,
  true_cluster,
  CASE WHEN true_cluster IS NULL THEN record_id END AS unlabeled_record_id -- NULL: every record has a true cluster
FROM records
WHERE true_cluster IS NOT NULL
