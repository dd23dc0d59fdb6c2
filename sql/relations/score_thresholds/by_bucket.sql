-- score_thresholds: one row per group and distinct score: class weights at, above and below it, squares, numbers and totals, by buckets.
-- Cumulative weights are sums over the other buckets and over the scores of the same bucket.
-- weight_below(): default by_sum: how the weight below a score is computed.
-- Materialize: all predictions are sorted.
-- Grain: group_id, score
SELECT
  cumulative_score_weights.group_id,
  cumulative_score_weights.score,
  cumulative_score_weights.positives, -- weight of the positives of this score
  cumulative_score_weights.positive_squares, -- sum of their squared weights
  cumulative_score_weights.negatives, -- weight of the negatives of this score
  cumulative_score_weights.negative_squares, -- sum of their squared weights
  cumulative_score_weights.positive_rows, -- positives of this score with positive weight
  cumulative_score_weights.negative_rows, -- negatives of this score with positive weight
  cumulative_bucket_weights.positives_above + cumulative_score_weights.bucket_positives_above AS positives_above,
  cumulative_bucket_weights.negatives_above + cumulative_score_weights.bucket_negatives_above AS negatives_above,
  weight_below(
    cumulative_bucket_weights.total_positives,
    cumulative_bucket_weights.positives_above + cumulative_score_weights.bucket_positives_above,
    cumulative_score_weights.positives,
    cumulative_bucket_weights.positives_below + cumulative_score_weights.bucket_positives_below
  ) AS positives_below,
  weight_below(
    cumulative_bucket_weights.total_negatives,
    cumulative_bucket_weights.negatives_above + cumulative_score_weights.bucket_negatives_above,
    cumulative_score_weights.negatives,
    cumulative_bucket_weights.negatives_below + cumulative_score_weights.bucket_negatives_below
  ) AS negatives_below,
  cumulative_bucket_weights.total_positives,
  cumulative_bucket_weights.total_negatives,
  cumulative_bucket_weights.total_rows
FROM (
  -- one row per group and distinct score, with the weights of higher and lower scores in its bucket
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
) AS cumulative_score_weights
JOIN cumulative_bucket_weights
  ON cumulative_bucket_weights.group_id = cumulative_score_weights.group_id AND cumulative_bucket_weights.bucket = cumulative_score_weights.bucket
