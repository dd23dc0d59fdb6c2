-- words: words of a text, its runs of letters and digits in lower case.
-- Engines: duckdb
CREATE MACRO words(text) AS REGEXP_EXTRACT_ALL(LOWER(CAST(text AS TEXT)), '[\p{L}\p{N}]+')
