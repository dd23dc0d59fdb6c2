-- movements: one row per prediction with what it was drawn with: how far it moves a metric if it weighed 1, and by what that
-- counts, its weight.
SELECT
  t.group_id,
  t.unit_id,
  t.label,
  1 AS alike,
  t.weight AS force,
  CASE WHEN t.label = 1 THEN t.weight ELSE 0 END AS positive_weight,
  CASE WHEN t.label = 1 THEN t.weight * t.weight ELSE 0 END AS positive_squares,
  CASE WHEN t.label = 1 THEN 1 ELSE 0 END AS positive_rows,
  CASE WHEN t.label = 1 THEN 0 ELSE t.weight END AS negative_weight,
  CASE WHEN t.label = 1 THEN 0 ELSE t.weight * t.weight END AS negative_squares,
  CASE WHEN t.label = 1 THEN 0 ELSE 1 END AS negative_rows,
  p.auc_move,
  p.aps_move
FROM (
  SELECT
    group_id,
    unit_id,
    label,
    weight,
    COALESCE(lowest, 0) AS threshold,
    CASE WHEN lowest IS NULL THEN 0 ELSE 1 END AS place,
    CASE WHEN label = 1 THEN 0 WHEN score = lowest THEN 1 ELSE 2 END AS part
  FROM told
) AS t
JOIN placements AS p ON p.group_id = t.group_id AND p.place = t.place AND p.threshold = t.threshold AND p.part = t.part
WHERE t.weight > 0
