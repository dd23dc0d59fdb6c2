-- trec_qrels: one row per TREC judgment: query, iteration, document and relevance, separated by blanks or tabs; other lines are errors.
-- Fields are read by LIST_EXTRACT, since sqlglot shifts indexes in brackets, which takes longer than reading a small run.
-- $path: text: a file, .gz too, or a glob.
-- Grain: many per query_id
SELECT
  CASE WHEN LEN(parts) = 4 THEN LIST_EXTRACT(parts, 1) ELSE ERROR('not a line of TREC qrels: ' || LEFT(line, 80)) END AS query_id,
  LIST_EXTRACT(parts, 2) AS iteration,
  LIST_EXTRACT(parts, 3) AS doc_id,
  TRY_CAST(LIST_EXTRACT(parts, 4) AS DOUBLE) AS relevance
FROM (
  -- one row per line
  SELECT line, STRING_SPLIT_REGEX(TRIM(line, CHR(32) || CHR(9) || CHR(13)), '[ \t]+') AS parts
  FROM READ_CSV($path, columns = {'line': 'VARCHAR'}, header = FALSE, delim = '\x01', quote = '', escape = '', auto_detect = FALSE, strict_mode = FALSE)
  WHERE TRIM(line, CHR(32) || CHR(9) || CHR(13)) <> '' AND NOT REGEXP_MATCHES(line, '^\s*#(\s|\S*\s*$)')
) AS lines
