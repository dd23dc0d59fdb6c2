-- expanding: one row per row of the input and fold: train before the bound of the fold, test from it to the next bound.
-- Grain: rows of source_rows
SELECT
  source_rows.*,
  $fold AS fold,
  CASE WHEN source_rows.time < $bound THEN $first ELSE $second END AS split
FROM source_rows
WHERE source_rows.time < $until
