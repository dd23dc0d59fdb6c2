-- history: rules for the rows of the history; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(query_id) AS null_query_id, -- query_id is NULL
  COUNT(*) - COUNT(doc_id) AS null_doc_id -- doc_id is NULL
FROM history
