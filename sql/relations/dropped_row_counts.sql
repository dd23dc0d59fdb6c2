-- dropped_row_counts: one row per list and input before nulls=drop, one per document after it: number of rows, negated in rows after it.
-- Grain: many per list_id
SELECT
  list_id,
  given_rows AS row_change -- rows given, or minus the rows that are left
FROM given_row_counts
UNION ALL
SELECT
  list_id,
  -num_copies AS row_change
FROM document_row_counts
