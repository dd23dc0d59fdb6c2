-- corrections: p without a correction.
SELECT p AS p_adjusted
FROM tests
