-- Each row by its ticket: eight hexadecimal digits of the digest of salt and key, uniform, and the same on every engine.
-- They are compared as text with the boundaries of the parts: digits sort before letters in every collation.
SELECT g.*, SUBSTR(MD5($salt || CAST(g.key AS TEXT)), 1, 8) AS split
FROM given AS g
