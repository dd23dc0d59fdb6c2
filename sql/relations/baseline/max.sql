-- baseline: one row per document of a list, with the greatest of its scores and the least of its ranks.
SELECT
  group_id,
  query_id,
  doc_id,
  MAX(score) AS score,
  MIN(rank) AS rank
FROM baseline
GROUP BY group_id, query_id, doc_id
