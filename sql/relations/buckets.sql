-- buckets: one row per bucket of scores with the weight of each class in the buckets above and below it. axis is one value
-- for all: these few rows are one machine's work, which engines warn of if a window has no partition.
SELECT
  group_id,
  bucket,
  COALESCE(SUM(positives) OVER (
    PARTITION BY group_id, axis ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS positives_above,
  COALESCE(SUM(negatives) OVER (
    PARTITION BY group_id, axis ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS negatives_above,
  COALESCE(SUM(positives) OVER (
    PARTITION BY group_id, axis ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS positives_below,
  COALESCE(SUM(negatives) OVER (
    PARTITION BY group_id, axis ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS negatives_below,
  COALESCE(SUM(bucket_rows) OVER (
    PARTITION BY group_id, axis ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS rows_below,
  SUM(positives) OVER (PARTITION BY group_id, axis) AS all_positives,
  SUM(negatives) OVER (PARTITION BY group_id, axis) AS all_negatives,
  SUM(bucket_rows) OVER (PARTITION BY group_id, axis) AS all_rows
FROM (
  SELECT
    group_id,
    bucket,
    MIN(CASE WHEN score IS NULL THEN 1 ELSE 0 END) AS axis,
    SUM(positives) AS positives,
    SUM(negatives) AS negatives,
    SUM(tied_rows) AS bucket_rows
  FROM placed
  GROUP BY group_id, bucket
) AS totals
