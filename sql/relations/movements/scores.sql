-- movements: one row per distinct score and label: how far a prediction there moves a metric if it weighed 1. For several scores
-- of the same predictions, which find under each of them how far they move it.
-- Found by: score = p.score AND label = CASE WHEN p.label = 1 THEN 1 ELSE 0 END.
SELECT
  group_id,
  threshold AS score,
  label,
  auc_move,
  aps_move
FROM placements
WHERE part < 2 AND weight > 0
