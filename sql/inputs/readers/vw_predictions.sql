-- vw_predictions: one row per line of predictions of Vowpal Wabbit: score and, if the example has one, its tag; other lines are errors.
-- $path: text: a file, .gz too, or a glob.
-- Grain: many per tag
SELECT
  CASE
    WHEN LEN(parts) <= 2 AND TRY_CAST(LIST_EXTRACT(parts, 1) AS DOUBLE) IS NOT NULL THEN TRY_CAST(LIST_EXTRACT(parts, 1) AS DOUBLE)
    ELSE ERROR('not a line of predictions: ' || LEFT(line, 80))
  END AS score,
  CASE WHEN LEN(parts) = 2 THEN LIST_EXTRACT(parts, 2) END AS tag
FROM (
  -- one row per line
  SELECT line, STRING_SPLIT_REGEX(TRIM(line, CHR(32) || CHR(9) || CHR(13)), '[ \t]+') AS parts
  FROM READ_CSV($path, columns = {'line': 'VARCHAR'}, header = FALSE, delim = '\x01', quote = '', escape = '', auto_detect = FALSE, strict_mode = FALSE)
  WHERE TRIM(line, CHR(32) || CHR(9) || CHR(13)) <> ''
) AS lines
