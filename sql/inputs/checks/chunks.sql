-- chunks: one row: rules for chunks; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  SUM(CASE WHEN span_end <= span_start THEN 1 ELSE 0 END) AS empty_span_end -- span_end is not above span_start, so that the chunk has no length. Leave such chunks out
FROM chunks
