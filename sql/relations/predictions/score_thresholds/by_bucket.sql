-- score_thresholds: one row per group and distinct score, with sums over higher and lower scores, by buckets: weights of classes, numbers, totals.
-- Cumulative weights are sums over the other buckets and over the scores of the same bucket.
-- weight_below(): default by_sum: how the weight below a score is computed.
-- Materialize: all predictions are sorted.
-- Grain: group_id, score
SELECT
  score_sums.group_id, score_sums.score,
  score_sums.positives, -- weight of the positives of this score
  score_sums.positive_squares, -- sum of their squared weights
  score_sums.negatives, -- weight of the negatives of this score
  score_sums.negative_squares, -- sum of their squared weights
  score_sums.positive_rows, -- positives of this score with positive weight
  score_sums.negative_rows, -- negatives of this score with positive weight
  bucket_sums.positives_above + score_sums.bucket_positives_above AS positives_above,
  bucket_sums.negatives_above + score_sums.bucket_negatives_above AS negatives_above,
  weight_below(
    bucket_sums.total_positives,
    bucket_sums.positives_above + score_sums.bucket_positives_above,
    score_sums.positives,
    bucket_sums.positives_below + score_sums.bucket_positives_below
  ) AS positives_below,
  weight_below(
    bucket_sums.total_negatives,
    bucket_sums.negatives_above + score_sums.bucket_negatives_above,
    score_sums.negatives,
    bucket_sums.negatives_below + score_sums.bucket_negatives_below
  ) AS negatives_below,
  bucket_sums.total_positives, bucket_sums.total_negatives, bucket_sums.total_rows
FROM (
  -- one row per group and distinct score, with sums over other scores in its bucket
  SELECT
    bucket_score_weights.*,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id, bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS bucket_positives_above,
    COALESCE(SUM(negatives) OVER (
      PARTITION BY group_id, bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS bucket_negatives_above,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id, bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS bucket_positives_below,
    COALESCE(SUM(negatives) OVER (
      PARTITION BY group_id, bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS bucket_negatives_below
  FROM bucket_score_weights
) AS score_sums
JOIN bucket_sums
  ON bucket_sums.group_id = score_sums.group_id AND bucket_sums.bucket = score_sums.bucket
