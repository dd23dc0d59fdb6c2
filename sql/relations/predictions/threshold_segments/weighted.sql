-- threshold_segments: one row per group and distinct score of a positive, and one above all: class weights at it, to the next, above and below it.
-- Weights at it and to the next have columns of their squares and of rows, too.
-- Materialize: all predictions are sorted.
-- Grain: group_id, has_threshold, threshold
SELECT
  group_id,
  has_threshold, -- 0 for what is above the highest, else 1
  threshold, -- score of a positive; 0 for what is above the highest
  positives, -- weight of the positives of this score
  positive_squares, -- sum of their squared weights
  positive_rows, -- positives of this score with positive weight
  negatives, -- weight of the negatives of this score
  negative_squares, -- sum of their squared weights
  negative_rows, -- negatives of this score with positive weight
  negatives_between, -- weight of negatives to the next lower threshold
  negative_squares_between, -- sum of their squared weights
  negative_rows_between, -- those of positive weight
  positives_above, negatives_above, positives_below,
  negatives_between + negatives_below_segment AS negatives_below,
  total_positives, total_negatives
FROM (
  -- one row per group and threshold
  SELECT
    segment_weights.*,
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
    SUM(negatives + negatives_between) OVER (PARTITION BY group_id) AS total_negatives
  FROM (
    -- one row per group and threshold
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
      SUM(CASE WHEN label = 1 OR score = threshold_score OR weight = 0 THEN 0 ELSE 1 END) AS negative_rows_between
    FROM predictions_with_threshold
    GROUP BY group_id, threshold_score
  ) AS segment_weights
) AS cumulative_segments
