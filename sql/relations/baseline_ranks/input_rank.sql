-- baseline_ranks: one row per query and document of the baseline run, with its rank by the rank column of the input.
-- Grain: group_id, query_id, doc_id
SELECT
  group_id,
  query_id,
  doc_id,
  ROW_NUMBER() OVER (PARTITION BY group_id, query_id ORDER BY rank, doc_id DESC) AS baseline_rank
FROM baseline
