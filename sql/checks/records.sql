-- records: rules for records; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(record_id) AS null_record_id, -- record_id is NULL
  COUNT(*) - COUNT(source) AS null_source, -- source is NULL
  SUM(CASE WHEN ISNAN(predicted_cluster) THEN 1 ELSE 0 END) AS nan_predicted_cluster, -- predicted_cluster is NaN
  SUM(CASE WHEN ISNAN(true_cluster) THEN 1 ELSE 0 END) AS nan_true_cluster -- true_cluster is NaN
FROM records
