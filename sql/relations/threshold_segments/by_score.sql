-- threshold_segments: one row per group and distinct score, with the weights of both classes at, above and below it.
-- No predictions are between two thresholds, since every score is one.
-- Grain: group_id, has_threshold, threshold
SELECT
  group_id,
  1 AS has_threshold,
  score AS threshold,
  positives,
  positive_squares,
  positive_rows,
  negatives,
  negative_squares,
  negative_rows,
  CAST(0 AS DOUBLE) AS negatives_between,
  CAST(0 AS DOUBLE) AS negative_squares_between,
  0 AS negative_rows_between,
  positives_above,
  negatives_above,
  positives_below,
  negatives_below,
  total_positives,
  total_negatives,
  total_rows
FROM score_thresholds
