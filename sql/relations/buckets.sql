-- buckets: one row per bucket of scores with the weight of each class in the buckets above and below it.
SELECT
  list_id,
  bucket,
  positives,
  COALESCE(SUM(positives) OVER (
    PARTITION BY list_id ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS positives_above,
  COALESCE(SUM(negatives) OVER (
    PARTITION BY list_id ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS negatives_above,
  COALESCE(SUM(positives) OVER (
    PARTITION BY list_id ORDER BY bucket DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
  ), 0) AS positives_below,
  COALESCE(SUM(negatives) OVER (
    PARTITION BY list_id ORDER BY bucket DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
  ), 0) AS negatives_below,
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
