-- labeled_records: one row per record with a true cluster, with that cluster.
-- Grain: group_id, record_id
SELECT
  group_id,
  record_id,
  true_cluster,
  CASE WHEN true_cluster IS NULL THEN record_id END AS true_singleton
FROM records
WHERE true_cluster IS NOT NULL
