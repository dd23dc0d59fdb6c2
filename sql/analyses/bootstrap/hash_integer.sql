-- hash_integer: one row: the integer below 2^31 - 1 that eight hexadecimal digits in lower case stand for.
-- Grain: one row
SELECT CAST('0x' || digits AS BIGINT) % 2147483647 AS hashed
