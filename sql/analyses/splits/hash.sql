-- hash: one row per row of the input: its columns, and the hash of salt and key, so that parts stay as rows are added.
-- Eight hexadecimal digits are uniform and the same on every engine. They are compared as text with the boundaries of the parts, since
-- digits sort before letters in every collation.
-- Grain: rows of source_rows
SELECT
  source_rows.*,
  SUBSTR(MD5($salt || CAST(source_rows.key AS TEXT)), 1, 8) AS split
FROM source_rows
