-- baseline: one row per group, query and document of the baseline run, which may repeat documents: its highest score and lowest rank.
-- Grain: group_id, query_id, doc_id
SELECT
  group_id, query_id, doc_id,
  MAX(score) AS score, -- the highest of its rows
  MIN(rank) AS rank -- the lowest of its rows
FROM baseline
GROUP BY group_id, query_id, doc_id
