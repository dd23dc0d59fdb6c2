-- replicates: one row per replicate of the bootstrap.
-- $all_replicates: integer from 1 to 9999: how many are drawn.
SELECT number AS replicate
FROM numbers
WHERE number <= $all_replicates
