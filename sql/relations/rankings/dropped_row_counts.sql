-- dropped_row_counts: one row per list and input, and one per document that nulls=drop leaves: rows given, or minus rows left, which sum to the dropped ones.
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
