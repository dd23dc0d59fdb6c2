-- cells: one row per predicted and true cluster that share records, with how many. An id beside a name that is NULL names a
-- cluster of one record.
SELECT
  group_id,
  predicted_cluster,
  predicted_alone,
  true_cluster,
  true_alone,
  CAST(COUNT(*) AS DOUBLE) AS n
FROM resolved
GROUP BY group_id, predicted_cluster, predicted_alone, true_cluster, true_alone
