-- csv_rows: one row: the number of rows of a CSV file; a row with another number of fields than the first one is an error.
-- Grain: one row
SELECT COUNT(*) AS lines
FROM READ_CSV($path, columns = $columns, delim = $delimiter, header = TRUE, auto_detect = FALSE)
