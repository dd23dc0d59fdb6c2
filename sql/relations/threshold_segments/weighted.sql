-- threshold_segments: one row per group and distinct score of a positive, with the weights of both classes at, above and below it.
-- The negatives between a threshold and the next lower one are a column of the higher one. One more row per group, with has_threshold
-- 0, has the negatives above the highest threshold.
-- Materialize: all predictions are sorted.
-- Grain: group_id, has_threshold, threshold
SELECT
  group_id,
  has_threshold,
  threshold,
  positives,
  positive_squares,
  positive_rows,
  negatives,
  negative_squares,
  negative_rows,
  negatives_between,
  negative_squares_between,
  negative_rows_between,
  positives_above,
  negatives_above,
  positives_below,
  negatives_between + negatives_below_segment AS negatives_below,
  total_positives,
  total_negatives,
  total_rows
FROM (
  SELECT
    group_id,
    has_threshold,
    threshold,
    positives,
    positive_squares,
    positive_rows,
    negatives,
    negative_squares,
    negative_rows,
    negatives_between,
    negative_squares_between,
    negative_rows_between,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id ORDER BY has_threshold, threshold DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS positives_above,
    COALESCE(SUM(negatives + negatives_between) OVER (
      PARTITION BY group_id ORDER BY has_threshold, threshold DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS negatives_above,
    COALESCE(SUM(positives) OVER (
      PARTITION BY group_id ORDER BY has_threshold, threshold DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS positives_below,
    COALESCE(SUM(negatives + negatives_between) OVER (
      PARTITION BY group_id ORDER BY has_threshold, threshold DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS negatives_below_segment,
    SUM(positives) OVER (PARTITION BY group_id) AS total_positives,
    SUM(negatives + negatives_between) OVER (PARTITION BY group_id) AS total_negatives,
    SUM(segment_rows) OVER (PARTITION BY group_id) AS total_rows
  FROM (
    SELECT
      group_id,
      COALESCE(threshold_score, 0) AS threshold,
      CASE WHEN threshold_score IS NULL THEN 0 ELSE 1 END AS has_threshold,
      SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
      SUM(CASE WHEN label = 1 THEN weight * weight ELSE 0 END) AS positive_squares,
      SUM(CASE WHEN label = 1 AND weight > 0 THEN 1 ELSE 0 END) AS positive_rows,
      SUM(CASE WHEN label = 0 AND score = threshold_score THEN weight ELSE 0 END) AS negatives,
      SUM(CASE WHEN label = 0 AND score = threshold_score THEN weight * weight ELSE 0 END) AS negative_squares,
      SUM(CASE WHEN label = 0 AND score = threshold_score AND weight > 0 THEN 1 ELSE 0 END) AS negative_rows,
      SUM(CASE WHEN label = 1 OR score = threshold_score THEN 0 ELSE weight END) AS negatives_between,
      SUM(CASE WHEN label = 1 OR score = threshold_score THEN 0 ELSE weight * weight END) AS negative_squares_between,
      SUM(CASE WHEN label = 1 OR score = threshold_score OR weight = 0 THEN 0 ELSE 1 END) AS negative_rows_between,
      COUNT(*) AS segment_rows
    FROM predictions_with_threshold
    GROUP BY group_id, threshold_score
  ) AS added
) AS running
