-- qrels: one row per judged document of a query, with the greatest of its grades.
SELECT
  group_id,
  query_id,
  doc_id,
  MAX(relevance) AS relevance
FROM qrels
GROUP BY group_id, query_id, doc_id
