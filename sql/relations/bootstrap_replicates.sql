-- bootstrap_replicates: one row per replicate of the bootstrap: its number, from 1.
-- $num_replicates: integer from 1 to 9999: number of replicates.
-- Grain: replicate
SELECT number AS replicate
FROM UNNEST(GENERATE_SERIES(1, $num_replicates)) AS series(number)
