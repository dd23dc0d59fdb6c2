-- replicates: one row per replicate of the bootstrap: 0 is what was seen.
-- $all_replicates: integer from 1 to 9999: how many are drawn.
SELECT 0 AS replicate
UNION ALL SELECT number AS replicate FROM numbers WHERE number <= $all_replicates
