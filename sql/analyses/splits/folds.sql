-- folds: one row per fold of an expanding split, with its number, from 0.
-- Grain: fold
SELECT number AS fold
FROM UNNEST(GENERATE_SERIES(0, $last_fold)) AS series(number)
