-- fields: how many lines a CSV file has that are split at a delimiter into as many fields as its first line; one that is not is an error.
SELECT COUNT(*) AS lines
FROM READ_CSV($path, columns = $columns, delim = $delimiter, header = TRUE, auto_detect = FALSE)
