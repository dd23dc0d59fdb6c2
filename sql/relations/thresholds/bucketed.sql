-- thresholds: one row per distinct score of a positive, with the weight of each class at it, above and below it. Only
-- scores in buckets that hold a positive are ordered, each bucket for itself; other buckets are added as totals.
SELECT
  t.list_id,
  t.score,
  t.positives,
  t.squares,
  t.negatives,
  b.positives_above + t.positives_over AS positives_above,
  b.negatives_above + t.negatives_over AS negatives_above,
  b.positives_below + t.positives_under AS positives_below,
  b.negatives_below + t.negatives_under AS negatives_below,
  b.all_positives,
  b.all_negatives,
  b.all_rows
FROM (
  SELECT
    list_id,
    bucket,
    score,
    positives,
    squares,
    negatives,
    COALESCE(SUM(positives) OVER (
      PARTITION BY list_id, bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS positives_over,
    COALESCE(SUM(negatives) OVER (
      PARTITION BY list_id, bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS negatives_over,
    COALESCE(SUM(positives) OVER (
      PARTITION BY list_id, bucket ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS positives_under,
    COALESCE(SUM(negatives) OVER (
      PARTITION BY list_id, bucket ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS negatives_under
  FROM (
    SELECT
      p.list_id,
      p.bucket,
      p.score,
      SUM(CASE WHEN p.label = 1 THEN p.weight ELSE 0 END) AS positives,
      SUM(CASE WHEN p.label = 1 THEN p.weight * p.weight ELSE 0 END) AS squares,
      SUM(CASE WHEN p.label = 1 THEN 0 ELSE p.weight END) AS negatives
    FROM placed AS p
    JOIN buckets AS m ON m.list_id = p.list_id AND m.bucket = p.bucket
    WHERE m.positives > 0
    GROUP BY p.list_id, p.bucket, p.score
  ) AS tied
) AS t
JOIN buckets AS b ON b.list_id = t.list_id AND b.bucket = t.bucket
WHERE t.positives > 0
