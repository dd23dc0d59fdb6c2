-- predicted_clusters: rules for predicted clusters; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(record_id) AS null_record_id, -- record_id is NULL
  SUM(CASE WHEN ISNAN(cluster_id) THEN 1 ELSE 0 END) AS nan_cluster_id -- cluster_id is NaN
FROM predicted_clusters
