-- positive_thresholds: one row per group and distinct score of a positive: class weights at, above and below it, and totals, from all scores.
-- They are selected from all distinct scores, which pays if these are few.
-- Materialize: all predictions are sorted.
-- Grain: group_id, score
SELECT
  group_id, score,
  positives, -- weight of the positives of this score
  positive_squares, -- sum of their squared weights
  negatives, -- weight of the negatives of this score
  positives_above, negatives_above, positives_below, negatives_below, total_positives,
  total_negatives,
  total_rows -- predictions of the group, of weight 0 too
FROM score_thresholds
WHERE positives > 0
