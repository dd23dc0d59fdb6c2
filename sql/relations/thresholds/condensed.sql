-- thresholds: one row per distinct score of a positive, highest first, from predictions that are added up where no positive is
-- near: for few positives.
-- Costly: all predictions are added up, and those that are near a positive are put in order.
SELECT
  s.group_id,
  s.threshold AS score,
  s.positives,
  s.squares,
  s.negatives,
  s.positives_above,
  s.negatives_above,
  s.positives_below,
  s.negatives_below,
  s.all_positives,
  s.all_negatives,
  n.all_rows
FROM segments AS s
JOIN totals AS n ON n.group_id = s.group_id
WHERE s.place = 1 AND s.positives > 0
