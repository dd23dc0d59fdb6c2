-- scores: one row per distinct score with the weight of each class at that score, above and below it, ordered bucket by
-- bucket.
-- rest(): default added: how what stands below is found.
-- Costly: all predictions are put in order.
SELECT
  t.group_id,
  t.score,
  t.positives,
  t.squares,
  t.negatives,
  t.negative_squares,
  t.positive_rows,
  t.negative_rows,
  b.positives_above + t.positives_over AS positives_above,
  b.negatives_above + t.negatives_over AS negatives_above,
  rest(
    b.all_positives, b.positives_above + t.positives_over, t.positives, b.positives_below + t.positives_under
  ) AS positives_below,
  rest(
    b.all_negatives, b.negatives_above + t.negatives_over, t.negatives, b.negatives_below + t.negatives_under
  ) AS negatives_below,
  b.all_positives,
  b.all_negatives,
  b.all_rows
FROM (
  SELECT
    group_id,
    bucket,
    score,
    positives,
    squares,
    negatives,
    negative_squares,
    positive_rows,
    negative_rows,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id, bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS positives_over,
    COALESCE(SUM(negatives) OVER (
      PARTITION BY group_id, bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS negatives_over,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id, bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS positives_under,
    COALESCE(SUM(negatives) OVER (
      PARTITION BY group_id, bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS negatives_under
  FROM bucket_scores
) AS t
JOIN buckets AS b ON b.group_id = t.group_id AND b.bucket = t.bucket
