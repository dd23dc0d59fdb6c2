-- movements: one row per segment and part of it: how far a prediction there moves a metric if it weighed 1. For several scores of
-- the same predictions, which find under each of them how far they move it.
-- Found by: place = CASE WHEN p.lowest IS NULL THEN 0 ELSE 1 END AND threshold = COALESCE(p.lowest, 0) AND part = CASE WHEN p.label = 1 THEN 0 WHEN p.score = p.lowest THEN 1 ELSE 2 END.
SELECT
  group_id,
  place,
  threshold,
  part,
  auc_move,
  aps_move
FROM placements
WHERE weight > 0
