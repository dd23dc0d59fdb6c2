-- run: one row per query and retrieved document, with its highest score and lowest rank.
-- Grain: group_id, query_id, doc_id
SELECT
  group_id,
  query_id,
  doc_id,
  MAX(score) AS score,
  MIN(rank) AS rank
FROM run
GROUP BY group_id, query_id, doc_id
