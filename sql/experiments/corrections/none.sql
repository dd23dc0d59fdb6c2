-- corrections: p-value without a correction.
SELECT p_value AS p_adjusted
FROM p_values
