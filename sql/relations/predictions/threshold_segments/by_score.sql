-- threshold_segments: one row per group and distinct score: class weights at, above and below it and in all, and zeros between scores.
-- No predictions are between two thresholds, since every score is one.
-- Grain: group_id, has_threshold, threshold
SELECT
  group_id,
  1 AS has_threshold, -- 1: no row is above the highest
  score AS threshold,
  positives, -- weight of the positives of this score
  positive_squares, -- sum of their squared weights
  positive_rows, -- positives of this score with positive weight
  negatives, -- weight of the negatives of this score
  negative_squares, -- sum of their squared weights
  negative_rows, -- negatives of this score with positive weight
  CAST(0 AS DOUBLE) AS negatives_between, -- none are between two distinct scores
  CAST(0 AS DOUBLE) AS negative_squares_between,
  0 AS negative_rows_between,
  positives_above, negatives_above, positives_below, negatives_below, total_positives,
  total_negatives
FROM score_thresholds
