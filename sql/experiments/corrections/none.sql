-- corrections: p-value without a correction.
-- Grain: rows of p_values
SELECT p_value AS p_adjusted
FROM p_values
