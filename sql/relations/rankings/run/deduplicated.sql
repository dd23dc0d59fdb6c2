-- run: one row per group, query and retrieved document, of a run that may repeat it: its highest score and lowest rank.
-- Grain: group_id, query_id, doc_id
SELECT
  group_id, query_id, doc_id,
  MAX(score) AS score, -- the highest of its rows
  MIN(rank) AS rank -- the lowest of its rows
FROM run
GROUP BY group_id, query_id, doc_id
