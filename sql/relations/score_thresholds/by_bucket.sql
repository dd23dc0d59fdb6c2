-- score_thresholds: one row per group and distinct score, with the weights of both classes at, above and below it.
-- Cumulative weights are sums over the other buckets and over the scores of the same bucket.
-- weight_below(): default by_sum: how the weight below a score is computed.
-- Materialize: all predictions are sorted.
-- Grain: group_id, score
SELECT
  t.group_id,
  t.score,
  t.positives,
  t.positive_squares,
  t.negatives,
  t.negative_squares,
  t.positive_rows,
  t.negative_rows,
  b.positives_above + t.bucket_positives_above AS positives_above,
  b.negatives_above + t.negatives_over AS negatives_above,
  weight_below(
    b.total_positives, b.positives_above + t.bucket_positives_above, t.positives, b.positives_below + t.bucket_positives_below
  ) AS positives_below,
  weight_below(
    b.total_negatives, b.negatives_above + t.negatives_over, t.negatives, b.negatives_below + t.negatives_under
  ) AS negatives_below,
  b.total_positives,
  b.total_negatives,
  b.total_rows
FROM (
  SELECT
    group_id,
    bucket,
    score,
    positives,
    positive_squares,
    negatives,
    negative_squares,
    positive_rows,
    negative_rows,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id, bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS bucket_positives_above,
    COALESCE(SUM(negatives) OVER (
      PARTITION BY group_id, bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS negatives_over,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id, bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS bucket_positives_below,
    COALESCE(SUM(negatives) OVER (
      PARTITION BY group_id, bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS negatives_under
  FROM bucket_score_weights
) AS t
JOIN score_buckets AS b ON b.group_id = t.group_id AND b.bucket = t.bucket
