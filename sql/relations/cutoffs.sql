-- cutoffs: one row per cut-off of a range: the cut-off k.
-- $first_cutoff: integer from 1: the first cut-off of the range.
-- $last_cutoff: integer from 1: the last cut-off of the range.
-- Grain: k
SELECT CAST(number AS INT) AS k
FROM UNNEST(GENERATE_SERIES($first_cutoff, $last_cutoff)) AS series(number)
