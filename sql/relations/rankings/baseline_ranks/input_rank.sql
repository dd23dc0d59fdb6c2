-- baseline_ranks: one row per group, query and document of the baseline run: its rank by the rank column of the input, without gaps.
-- Grain: group_id, query_id, doc_id
SELECT
  group_id, query_id, doc_id,
  ROW_NUMBER() OVER (PARTITION BY group_id, query_id ORDER BY rank, doc_id DESC) AS baseline_rank -- position in the baseline's list, from 1
FROM baseline
