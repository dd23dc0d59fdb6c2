-- standing: one row per distinct score with the number of predictions of lower scores, counted bucket by bucket.
SELECT
  t.list_id,
  t.score,
  t.weight,
  t.observed,
  b.rows_below + t.rows_under AS rows_below,
  b.all_rows
FROM (
  SELECT
    list_id,
    bucket,
    score,
    weight,
    observed,
    COALESCE(SUM(tied_rows) OVER (
      PARTITION BY list_id, bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS rows_under
  FROM (
    SELECT
      list_id,
      bucket,
      score,
      SUM(weight) AS weight,
      SUM(weight * label) AS observed,
      COUNT(*) AS tied_rows
    FROM placed
    GROUP BY list_id, bucket, score
  ) AS tied
) AS t
JOIN buckets AS b ON b.list_id = t.list_id AND b.bucket = t.bucket
