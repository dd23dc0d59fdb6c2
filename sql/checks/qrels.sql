-- What can be wrong with one row of the judgments. Each column counts the rows that break one rule.
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(query_id) AS null_query_id,
  COUNT(*) - COUNT(doc_id) AS null_doc_id,
  COUNT(*) - COUNT(relevance) AS null_relevance,
  SUM(CASE WHEN ISNAN(relevance) OR ISINF(relevance) THEN 1 ELSE 0 END) AS nan_relevance,
  SUM(CASE WHEN relevance > 0 THEN 1 ELSE 0 END) AS positive_relevance,
  MAX(relevance) AS top_grade
FROM qrels
