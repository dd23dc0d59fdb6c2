-- no_true_cluster: one row: the number of records without a true cluster, if there are any.
-- Grain: one row
SELECT
  COUNT(*) AS records -- true_cluster is NULL, and missing_truth='error'. Choose missing_truth=drop or singleton
FROM records
WHERE true_cluster IS NULL
HAVING COUNT(*) > 0
