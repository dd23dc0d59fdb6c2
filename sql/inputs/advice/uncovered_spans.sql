-- uncovered_spans: one row: the spans of evidence that no chunk overlaps, which relations/qrels/joined.sql makes documents of their own, and all spans.
-- Grain: one row
SELECT
  SUM(CASE WHEN CAST(doc_id AS VARCHAR) = CAST(-4611686018427387904 - subtopic AS VARCHAR) THEN 1 ELSE 0 END) AS uncovered,
  COUNT(DISTINCT CAST(query_id AS VARCHAR) || ' ' || CAST(subtopic AS VARCHAR)) AS spans
FROM qrels
