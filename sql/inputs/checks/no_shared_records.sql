-- no_shared_records: one row: the number of records, if none of them has both a predicted and a true cluster.
-- Grain: one row
SELECT
  COUNT(*) AS records -- no record has both clusters, since predicted_clusters and true_clusters have no record_id in common
FROM records
HAVING COUNT(*) > 0 AND SUM(CASE WHEN predicted_cluster IS NOT NULL AND true_cluster IS NOT NULL THEN 1 ELSE 0 END) = 0
