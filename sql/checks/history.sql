-- What can be wrong with one row of the history. Each column counts the rows that break one rule, which its comment says;
-- what stands before a colon is what a metric requires (-- Requires:), and the rule is for those metrics only.
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(query_id) AS null_query_id, -- query_id is NULL
  COUNT(*) - COUNT(doc_id) AS null_doc_id -- doc_id is NULL
FROM history
