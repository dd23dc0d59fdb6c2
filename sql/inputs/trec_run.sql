-- A TREC run: query, Q0, document, rank, score, tag, separated by blanks or tabs; what follows the tag is not read.
-- $path: text: a file, .gz too, or a glob.
SELECT
  parts[1] AS query_id,
  parts[3] AS doc_id,
  TRY_CAST(parts[4] AS BIGINT) AS rank,
  TRY_CAST(parts[5] AS DOUBLE) AS score,
  parts[6] AS tag
FROM (
  SELECT STRING_SPLIT_REGEX(TRIM(line, CHR(32) || CHR(9) || CHR(13)), '[ \t]+') AS parts
  FROM READ_CSV($path, columns = {'line': 'VARCHAR'}, header = FALSE, delim = '\x01', quote = '', escape = '', auto_detect = FALSE, strict_mode = FALSE)
  WHERE TRIM(line, CHR(32) || CHR(9) || CHR(13)) <> '' AND NOT REGEXP_MATCHES(line, '^\s*#(\s|\S*\s*$)')
) AS lines
