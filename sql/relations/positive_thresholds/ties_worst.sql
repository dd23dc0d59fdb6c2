-- positive_thresholds: one row per group and distinct score of a positive, with negatives of an equal score counted above it.
-- Materialize: all predictions are sorted.
-- Grain: group_id, score
SELECT
  group_id,
  score,
  positives,
  positive_squares,
  CAST(0 AS DOUBLE) AS negatives,
  positives_above,
  negatives_above + negatives AS negatives_above,
  positives_below,
  negatives_below,
  total_positives,
  total_negatives,
  total_rows
FROM score_thresholds
WHERE positives > 0
