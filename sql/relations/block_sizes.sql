-- block_sizes: the powers of two from 2 to 2^40, which is more than the number of distinct labels of any group.
-- Grain: block_size
SELECT CAST(FLOOR(EXP((1 + a.digit + 10 * b.digit) * LN(2)) + 0.5) AS BIGINT) AS block_size
FROM digits AS a
CROSS JOIN digits AS b
WHERE b.digit < 4
