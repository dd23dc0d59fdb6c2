-- buckets: one row per bucket of scores with the weight of each class in the buckets above it.
SELECT
  list_id,
  bucket,
  positives,
  SUM(positives) OVER (PARTITION BY list_id ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    - positives AS positives_above,
  SUM(negatives) OVER (PARTITION BY list_id ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    - negatives AS negatives_above,
  SUM(positives) OVER (PARTITION BY list_id) AS all_positives,
  SUM(negatives) OVER (PARTITION BY list_id) AS all_negatives,
  SUM(bucket_rows) OVER (PARTITION BY list_id) AS all_rows
FROM (
  SELECT
    list_id,
    bucket,
    SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives,
    COUNT(*) AS bucket_rows
  FROM placed
  GROUP BY list_id, bucket
) AS totals
