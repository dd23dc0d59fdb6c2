-- settled: one row per record, with its clusters; one without a predicted cluster is a cluster by itself, whose name is its own id.
SELECT
  group_id,
  record_id,
  predicted_cluster,
  CASE WHEN predicted_cluster IS NULL THEN record_id END AS predicted_alone,
  true_cluster
FROM records
