-- baseline_ranks: one row per query and document of the baseline run, with its rank; ties are broken by doc_id, smallest first.
-- Grain: group_id, query_id, doc_id
SELECT
  group_id,
  query_id,
  doc_id,
  ROW_NUMBER() OVER (PARTITION BY group_id, query_id ORDER BY score DESC, doc_id) AS baseline_rank
FROM baseline
