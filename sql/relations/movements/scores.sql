-- movements: one row per distinct score and label: how far a prediction there moves a metric if it weighed 1. For several scores
-- of the same predictions, which find under each of them how far they move it.
SELECT
  group_id,
  threshold AS score,
  label,
  auc_move,
  aps_move
FROM placements
WHERE part < 2 AND weight > 0
