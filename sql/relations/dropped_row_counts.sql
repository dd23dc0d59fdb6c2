-- dropped_row_counts: rows of run and judgments per ranked list before nulls=drop, and minus those after; they sum to the rows dropped.
-- Grain: many per list_id
SELECT
  list_id,
  given_rows AS row_change
FROM given_row_counts
UNION ALL
SELECT
  list_id,
  -num_copies AS row_change
FROM document_row_counts
