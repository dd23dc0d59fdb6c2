-- unlabelled: records that are in no true cluster.
SELECT
  COUNT(*) AS records -- true_cluster is NULL, and unlabelled='error'; choose unlabelled=drop or singleton
FROM records
WHERE true_cluster IS NULL
HAVING COUNT(*) > 0
