-- thresholds: one row per distinct score of a positive, with its negatives below it: of equal scores positives come first.
-- Costly: all predictions are put in order.
SELECT
  group_id,
  score,
  positives,
  squares,
  CAST(0 AS DOUBLE) AS negatives,
  positives_above,
  negatives_above,
  positives_below,
  negatives_below + negatives AS negatives_below,
  all_positives,
  all_negatives,
  all_rows
FROM scores
WHERE positives > 0
