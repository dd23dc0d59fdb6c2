-- thresholds: one row per distinct score of a positive, from the distinct scores of all predictions: for few of them.
-- Costly: all predictions are put in order.
SELECT
  group_id,
  score,
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
FROM scores
WHERE positives > 0
