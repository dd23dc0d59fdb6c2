-- no_predicted_cluster: one row: the number of records without a predicted cluster, if there are any.
-- Grain: one row
SELECT
  COUNT(*) AS records -- predicted_cluster is NULL, and missing_prediction='error'. Choose missing_prediction=singleton or drop
FROM records
WHERE predicted_cluster IS NULL
HAVING COUNT(*) > 0
