-- cutoffs: one row per cut-off of a range.
-- $first_cutoff: integer from 1: the first cut-off of the range.
-- $num_cutoffs: integer from 1 to 10000: number of cut-offs.
-- Grain: k
SELECT CAST(number + $first_cutoff - 1 AS INT) AS k
FROM numbers
WHERE number <= $num_cutoffs
