-- bootstrap_replicates: one row per replicate of the bootstrap.
-- $num_replicates: integer from 1 to 9999: number of replicates.
-- Grain: replicate
SELECT number AS replicate
FROM numbers
WHERE number <= $num_replicates
