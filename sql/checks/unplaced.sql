-- unplaced: records that are in no predicted cluster.
SELECT
  COUNT(*) AS records -- predicted_cluster is NULL, and unplaced='error'; choose unplaced=singleton or drop
FROM records
WHERE predicted_cluster IS NULL
HAVING COUNT(*) > 0
