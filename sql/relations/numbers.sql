-- numbers: the integers from 1 to 10,000.
-- Grain: number
SELECT 1 + a.digit + 10 * b.digit + 100 * c.digit + 1000 * d.digit AS number
FROM digits AS a
CROSS JOIN digits AS b
CROSS JOIN digits AS c
CROSS JOIN digits AS d
