-- positive_thresholds: one row per group and distinct score of a positive: class weights at, above and below it, tied negatives above, and totals.
-- Negatives of the score itself count as above it: the worst order of ties.
-- Materialize: all predictions are sorted.
-- Grain: group_id, score
SELECT
  group_id, score,
  positives, -- weight of the positives of this score
  positive_squares, -- sum of their squared weights
  CAST(0 AS DOUBLE) AS negatives, -- none are at the score itself
  positives_above,
  negatives_above + negatives AS negatives_above, -- weight of negatives of this or higher scores
  positives_below, negatives_below, total_positives, total_negatives,
  total_rows -- predictions of the group, of weight 0 too
FROM score_thresholds
WHERE positives > 0
