-- hash: one row per input row, with eight hexadecimal digits of the hash of salt and key, which are uniform and the same on every engine.
-- They are compared as text with the boundaries of the parts, since digits sort before letters in every collation.
-- Grain: rows of source_rows
SELECT g.*, SUBSTR(MD5($salt || CAST(g.key AS TEXT)), 1, 8) AS split
FROM source_rows AS g
