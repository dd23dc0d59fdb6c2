-- evidence: one row: rules for spans of evidence; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  SUM(CASE WHEN span_end <= span_start THEN 1 ELSE 0 END) AS empty_span_end -- span_end is not above span_start, so that the span has no length. It is the position behind the span
FROM evidence
