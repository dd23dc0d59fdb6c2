-- hash_integer: integer below 2^31 - 1 from eight hexadecimal digits in lower case, since engines have different functions for that.
-- Grain: one row
SELECT (
  CAST(STRPOS('0123456789abcdef', SUBSTR(digits, 1, 1)) - 1 AS BIGINT) * 268435456
  + (STRPOS('0123456789abcdef', SUBSTR(digits, 2, 1)) - 1) * 16777216
  + (STRPOS('0123456789abcdef', SUBSTR(digits, 3, 1)) - 1) * 1048576
  + (STRPOS('0123456789abcdef', SUBSTR(digits, 4, 1)) - 1) * 65536
  + (STRPOS('0123456789abcdef', SUBSTR(digits, 5, 1)) - 1) * 4096
  + (STRPOS('0123456789abcdef', SUBSTR(digits, 6, 1)) - 1) * 256
  + (STRPOS('0123456789abcdef', SUBSTR(digits, 7, 1)) - 1) * 16
  + (STRPOS('0123456789abcdef', SUBSTR(digits, 8, 1)) - 1)
) % 2147483647 AS hashed
