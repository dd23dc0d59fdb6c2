-- movements: one row per predictions that move a metric alike, where each is drawn on its own: how far one of weight 1 moves
-- it, and by what that counts, the root of the sum of their squared weights.
SELECT
  group_id,
  label,
  alike,
  SQRT(squares) AS force,
  CASE WHEN label = 1 THEN weight ELSE 0 END AS positive_weight,
  CASE WHEN label = 1 THEN squares ELSE 0 END AS positive_squares,
  CASE WHEN label = 1 THEN alike ELSE 0 END AS positive_rows,
  CASE WHEN label = 1 THEN 0 ELSE weight END AS negative_weight,
  CASE WHEN label = 1 THEN 0 ELSE squares END AS negative_squares,
  CASE WHEN label = 1 THEN 0 ELSE alike END AS negative_rows,
  auc_move,
  aps_move
FROM placements
WHERE alike > 0
