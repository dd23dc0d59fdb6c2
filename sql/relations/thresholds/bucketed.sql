-- thresholds: one row per distinct score of a positive, with the weight of each class at it and above it. Only scores in
-- buckets that hold a positive are ordered, each bucket for itself; the buckets above it are added as totals.
SELECT
  t.list_id,
  t.score,
  t.positives,
  t.squares,
  t.negatives,
  b.positives_above + t.positives_upto - t.positives AS positives_above,
  b.negatives_above + t.negatives_upto - t.negatives AS negatives_above,
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
    SUM(positives) OVER (
      PARTITION BY list_id, bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS positives_upto,
    SUM(negatives) OVER (
      PARTITION BY list_id, bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS negatives_upto
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
