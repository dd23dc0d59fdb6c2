-- expanding: one row per input row and fold: train before the bound of the fold, and test from it to the next bound.
-- Grain: rows of source_rows
SELECT g.*, $fold AS fold, CASE WHEN g.time < $bound THEN $first ELSE $second END AS split
FROM source_rows AS g
WHERE g.time < $until
