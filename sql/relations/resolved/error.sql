-- resolved: one row per record, each of them in a true cluster.
-- Check: unlabelled
SELECT
  group_id,
  record_id,
  predicted_cluster,
  predicted_alone,
  true_cluster,
  CASE WHEN true_cluster IS NULL THEN record_id END AS true_alone
FROM settled
