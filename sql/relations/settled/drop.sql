-- settled: one row per record, with its clusters, if it is in a predicted one.
SELECT
  group_id,
  record_id,
  predicted_cluster,
  CASE WHEN predicted_cluster IS NULL THEN record_id END AS predicted_alone,
  true_cluster
FROM records
WHERE predicted_cluster IS NOT NULL
