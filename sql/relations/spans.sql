-- spans: the powers of two from 2 to 2^40, more than any list has entries.
SELECT CAST(FLOOR(EXP(number * LN(2)) + 0.5) AS BIGINT) AS span
FROM numbers
WHERE number <= 40
