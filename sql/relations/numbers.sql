-- numbers: one row per integer from 1 to 10,000.
-- Grain: number
SELECT number
FROM UNNEST(GENERATE_SERIES(1, 10000)) AS series(number)
