-- positive_thresholds: one row per group and distinct score of a positive: class weights at, above and below it.
-- They are selected from all distinct scores, which pays if these are few.
-- Materialize: all predictions are sorted.
-- Grain: group_id, score
SELECT
  group_id,
  score,
  positives, -- weight of the positives of this score
  positive_squares, -- sum of their squared weights
  negatives, -- weight of the negatives of this score
  positives_above, -- weight of positives of higher scores
  negatives_above, -- weight of negatives of higher scores
  positives_below, -- weight of positives of lower scores
  negatives_below, -- weight of negatives of lower scores
  total_positives, -- weight of all positives of the group
  total_negatives, -- weight of all negatives of the group
  total_rows -- predictions of the group
FROM score_thresholds
WHERE positives > 0
