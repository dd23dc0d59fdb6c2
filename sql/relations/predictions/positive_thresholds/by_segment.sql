-- positive_thresholds: one row per group and distinct score of a positive: class weights at, above and below it, and totals, from segments.
-- Weights are aggregated per segment of scores from one threshold to the next first, so that cumulative sums run over thresholds and not
-- over predictions. Rows are counted on their own, since score ranges without a positive may be one row each here.
-- Materialize: all predictions are sorted.
-- Grain: group_id, score
SELECT
  threshold_segments.group_id,
  threshold AS score,
  positives, -- weight of the positives of this score
  positive_squares, -- sum of their squared weights
  negatives, -- weight of the negatives of this score
  positives_above, negatives_above, positives_below, negatives_below, total_positives,
  total_negatives,
  group_sizes.total_rows -- predictions of the group, of weight 0 too
FROM threshold_segments
LEFT JOIN group_sizes ON group_sizes.group_id = threshold_segments.group_id
WHERE has_threshold = 1 AND positives > 0
