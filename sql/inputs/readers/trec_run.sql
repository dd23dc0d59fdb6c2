-- trec_run: one row per retrieved document of a TREC run: query, Q0, document, rank, score and tag, separated by blanks or tabs.
-- Words after a tag that is not a number are ignored, as in NIST's own test files. Other lines are errors, so that no part of an id
-- with a blank is read as a score. Fields are read by LIST_EXTRACT, since sqlglot shifts indexes in brackets, which takes longer than
-- reading a small run.
-- $path: text: a file, .gz too, or a glob.
-- Grain: many per query_id
SELECT
  CASE
    WHEN LEN(parts) >= 6 AND TRY_CAST(LIST_EXTRACT(parts, 4) AS DOUBLE) IS NOT NULL AND (LEN(parts) = 6 OR TRY_CAST(LIST_EXTRACT(parts, 6) AS DOUBLE) IS NULL)
    THEN LIST_EXTRACT(parts, 1)
    ELSE ERROR('not a line of a TREC run: ' || LEFT(line, 80))
  END AS query_id,
  LIST_EXTRACT(parts, 3) AS doc_id,
  TRY_CAST(LIST_EXTRACT(parts, 4) AS BIGINT) AS rank,
  TRY_CAST(LIST_EXTRACT(parts, 5) AS DOUBLE) AS score,
  LIST_EXTRACT(parts, 6) AS tag
FROM (
  -- one row per line
  SELECT line, STRING_SPLIT_REGEX(TRIM(line, CHR(32) || CHR(9) || CHR(13)), '[ \t]+') AS parts
  FROM READ_CSV($path, columns = {'line': 'VARCHAR'}, header = FALSE, delim = '\x01', quote = '', escape = '', auto_detect = FALSE, strict_mode = FALSE)
  WHERE TRIM(line, CHR(32) || CHR(9) || CHR(13)) <> '' AND NOT REGEXP_MATCHES(line, '^\s*#(\s|\S*\s*$)')
) AS lines
