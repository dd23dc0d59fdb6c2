-- dropped: rows per list: how many were given, and, less than 0, how many of these are read.
SELECT
  list_id,
  given_rows AS dropped_rows
FROM given
UNION ALL
SELECT
  list_id,
  -copies AS dropped_rows
FROM repeated
