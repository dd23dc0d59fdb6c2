-- resolved: one row per record whose true cluster is known.
-- Check: apart
SELECT
  group_id,
  record_id,
  predicted_cluster,
  predicted_alone,
  true_cluster,
  CASE WHEN true_cluster IS NULL THEN record_id END AS true_alone
FROM settled
WHERE true_cluster IS NOT NULL
