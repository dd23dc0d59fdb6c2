-- positive_thresholds: one row per group and distinct score of a positive: class weights at, above and below it.
-- Predictions in score ranges without a positive are aggregated before the sort, which pays if positives are few.
-- Materialize: all predictions are aggregated, and those near a positive are sorted.
-- Grain: group_id, score
SELECT
  threshold_segments.group_id,
  threshold_segments.threshold AS score,
  threshold_segments.positives, -- weight of the positives of this score
  threshold_segments.positive_squares, -- sum of their squared weights
  threshold_segments.negatives, -- weight of the negatives of this score
  threshold_segments.positives_above,
  threshold_segments.negatives_above,
  threshold_segments.positives_below,
  threshold_segments.negatives_below,
  threshold_segments.total_positives,
  threshold_segments.total_negatives,
  group_sizes.total_rows
FROM threshold_segments
JOIN group_sizes ON group_sizes.group_id = threshold_segments.group_id
WHERE threshold_segments.has_threshold = 1 AND threshold_segments.positives > 0
