-- hash_integer: integer below 2^31 - 1 from eight hexadecimal digits in lower case.
-- Grain: one row
SELECT CAST('0x' || digits AS BIGINT) % 2147483647 AS hashed
