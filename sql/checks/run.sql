-- What can be wrong with one row of a run. Each column counts the rows that break one rule.
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(query_id) AS null_query_id,
  COUNT(*) - COUNT(doc_id) AS null_doc_id,
  COUNT(*) - COUNT(score) AS null_score,
  SUM(CASE WHEN ISNAN(score) THEN 1 ELSE 0 END) AS nan_score,
  COUNT(*) - COUNT(rank) AS null_rank
FROM run
