-- spans: the powers of two from 2 to 2^40, more than any list has entries.
SELECT CAST(FLOOR(EXP((1 + a.digit + 10 * b.digit) * LN(2)) + 0.5) AS BIGINT) AS span
FROM digits AS a
CROSS JOIN digits AS b
WHERE b.digit < 4
