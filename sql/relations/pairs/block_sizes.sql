-- block_sizes: one row per power of two from 2 to 2^40: the number of labels in a block.
-- Grain: block_size
SELECT CAST(FLOOR(EXP(number * LN(2)) + 0.5) AS BIGINT) AS block_size -- EXP is rounded to the power of two
FROM UNNEST(GENERATE_SERIES(1, 40)) AS series(number)
