-- thresholds: one row per distinct score of a positive, highest first, with the weight of each class at it, above and
-- below it. Weights are added up per such threshold, so that running sums are taken over thresholds, not over predictions.
-- Costly: all predictions are put in order.
SELECT
  group_id,
  threshold AS score,
  positives,
  squares,
  negatives,
  positives_above,
  negatives_above,
  positives_below,
  negatives_below,
  all_positives,
  all_negatives,
  all_rows
FROM segments
WHERE place = 1 AND positives > 0
