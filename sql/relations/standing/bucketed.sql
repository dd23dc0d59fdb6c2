-- standing: one row per distinct score with the number of predictions of lower scores, counted bucket by bucket.
SELECT
  t.group_id,
  t.score,
  t.weight,
  t.observed,
  b.rows_below + t.rows_under AS rows_below,
  b.all_rows
FROM (
  SELECT
    group_id,
    bucket,
    score,
    positives + negatives AS weight,
    observed,
    COALESCE(SUM(tied_rows) OVER (
      PARTITION BY group_id, bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS rows_under
  FROM bucket_scores
) AS t
JOIN buckets AS b ON b.group_id = t.group_id AND b.bucket = t.bucket
