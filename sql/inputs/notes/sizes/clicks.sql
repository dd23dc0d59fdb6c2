-- clicks: one row per list: the clicks on its documents.
-- Grain: list_id
SELECT
  list_id,
  COALESCE(SUM(clicked), 0) AS audit_clicks
FROM displayed_documents
GROUP BY list_id
