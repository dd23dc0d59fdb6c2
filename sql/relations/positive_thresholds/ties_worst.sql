-- positive_thresholds: one row per group and distinct score of a positive: class weights at, above (tied negatives), below, in all; squares, rows.
-- Materialize: all predictions are sorted.
-- Grain: group_id, score
SELECT
  group_id,
  score,
  positives, -- weight of the positives of this score
  positive_squares, -- sum of their squared weights
  CAST(0 AS DOUBLE) AS negatives, -- none are at the score itself
  positives_above,
  negatives_above + negatives AS negatives_above, -- weight of negatives of this or higher scores
  positives_below,
  negatives_below,
  total_positives,
  total_negatives,
  total_rows
FROM score_thresholds
WHERE positives > 0
