-- What can be wrong with one row of the judgments. Each column counts the rows that break one rule.
SELECT
  COUNT(*) AS all_rows,
  SUM(CASE WHEN query_id IS NULL THEN 1 ELSE 0 END) AS null_query_id,
  SUM(CASE WHEN doc_id IS NULL THEN 1 ELSE 0 END) AS null_doc_id,
  SUM(CASE WHEN relevance IS NULL THEN 1 ELSE 0 END) AS null_relevance,
  SUM(CASE WHEN ISNAN(relevance) OR ISINF(relevance) THEN 1 ELSE 0 END) AS nan_relevance,
  SUM(CASE WHEN relevance > 0 THEN 1 ELSE 0 END) AS positive_relevance,
  MAX(relevance) AS top_grade
FROM qrels
