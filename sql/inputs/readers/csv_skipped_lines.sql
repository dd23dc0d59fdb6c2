-- csv_skipped_lines: one row: the number of lines that DuckDB leaves out before the header or the first row of a CSV file.
-- Grain: one row
SELECT SkipRows AS lines
FROM SNIFF_CSV($path)
