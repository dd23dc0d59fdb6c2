-- settled: one row per record, with its clusters, each of them in a predicted one.
-- Check: unplaced
SELECT
  group_id,
  record_id,
  predicted_cluster,
  CASE WHEN predicted_cluster IS NULL THEN record_id END AS predicted_alone,
  true_cluster
FROM records
