-- expanding: one row per row of the input and fold: its columns, and its part: train before the bound of the fold, test to the next.
-- time is the number of bounds that are not later: the fold of the last of these tests the row, and all later folds train on it.
-- Grain: rows of source_rows
SELECT
  source_rows.*,
  folds.fold,
  CASE WHEN folds.fold >= source_rows.time THEN $first ELSE $second END AS split
FROM source_rows
CROSS JOIN folds
WHERE folds.fold >= source_rows.time - 1
