-- score_thresholds: one row per group and distinct score: class weights at, above and below it, squares, numbers and totals, by buckets.
-- Cumulative weights are sums over the other buckets and over the scores of the same bucket.
-- weight_below(): default by_sum: how the weight below a score is computed.
-- Materialize: all predictions are sorted.
-- Grain: group_id, score
SELECT
  scores_in_buckets.group_id,
  scores_in_buckets.score,
  scores_in_buckets.positives, -- weight of the positives of this score
  scores_in_buckets.positive_squares, -- sum of their squared weights
  scores_in_buckets.negatives, -- weight of the negatives of this score
  scores_in_buckets.negative_squares, -- sum of their squared weights
  scores_in_buckets.positive_rows, -- positives of this score with positive weight
  scores_in_buckets.negative_rows, -- negatives of this score with positive weight
  score_buckets.positives_above + scores_in_buckets.bucket_positives_above AS positives_above,
  score_buckets.negatives_above + scores_in_buckets.bucket_negatives_above AS negatives_above,
  weight_below(
    score_buckets.total_positives,
    score_buckets.positives_above + scores_in_buckets.bucket_positives_above,
    scores_in_buckets.positives,
    score_buckets.positives_below + scores_in_buckets.bucket_positives_below
  ) AS positives_below,
  weight_below(
    score_buckets.total_negatives,
    score_buckets.negatives_above + scores_in_buckets.bucket_negatives_above,
    scores_in_buckets.negatives,
    score_buckets.negatives_below + scores_in_buckets.bucket_negatives_below
  ) AS negatives_below,
  score_buckets.total_positives,
  score_buckets.total_negatives,
  score_buckets.total_rows
FROM (
  -- one row per group and distinct score
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
    ), 0) AS bucket_positives_above, -- of higher scores in the bucket
    COALESCE(SUM(negatives) OVER (
      PARTITION BY group_id, bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS bucket_negatives_above, -- of higher scores in the bucket
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id, bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS bucket_positives_below, -- of lower scores in the bucket
    COALESCE(SUM(negatives) OVER (
      PARTITION BY group_id, bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS bucket_negatives_below -- of lower scores in the bucket
  FROM bucket_score_weights
) AS scores_in_buckets
JOIN score_buckets
  ON score_buckets.group_id = scores_in_buckets.group_id AND score_buckets.bucket = scores_in_buckets.bucket
