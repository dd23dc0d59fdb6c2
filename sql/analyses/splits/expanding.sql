-- expanding: one row per row of the input and fold: its columns, and its part: train before the bound of the fold, test to the next.
-- Grain: rows of source_rows
SELECT
  source_rows.*,
  $fold AS fold,
  CASE WHEN source_rows.time < $bound THEN $first ELSE $second END AS split
FROM source_rows
WHERE source_rows.time < $until
