-- positive_thresholds: one row per group and distinct score of a positive, with the weights of both classes at, above and below it.
-- Predictions in score ranges without a positive are aggregated before the sort, which pays if positives are few.
-- Materialize: all predictions are aggregated, and those near a positive are sorted.
-- Grain: group_id, score
SELECT
  s.group_id,
  s.threshold AS score,
  s.positives,
  s.positive_squares,
  s.negatives,
  s.positives_above,
  s.negatives_above,
  s.positives_below,
  s.negatives_below,
  s.total_positives,
  s.total_negatives,
  n.total_rows
FROM threshold_segments AS s
JOIN group_sizes AS n ON n.group_id = s.group_id
WHERE s.has_threshold = 1 AND s.positives > 0
