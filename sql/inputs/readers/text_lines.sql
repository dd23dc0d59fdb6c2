-- text_lines: one row per line of a TREC file or of predictions of Vowpal Wabbit, as a list of its words; for files whose lines were checked.
-- $path: text: a file, .gz too, or a glob.
-- Grain: many per parts
SELECT REGEXP_EXTRACT_ALL(line, '[^ \t\r]+') AS parts
FROM READ_CSV($path, columns = {'line': 'VARCHAR'}, header = FALSE, delim = '\x01', quote = '', escape = '', auto_detect = FALSE, strict_mode = FALSE)
WHERE NOT REGEXP_MATCHES(line, '^\s*($|#(\s|\S*\s*$))')
