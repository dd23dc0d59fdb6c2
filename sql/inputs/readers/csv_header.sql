-- csv_header: one row: the first of a CSV file, which has the names of its columns as they are written.
-- $path: text: the file.
-- Grain: one row
SELECT *
FROM READ_CSV($path, header = FALSE, all_varchar = TRUE)
LIMIT 1
