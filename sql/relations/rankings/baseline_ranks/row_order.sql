-- baseline_ranks: one row per group, query and document of the baseline run: its rank by score, ties by the rank column of the input.
-- Grain: group_id, query_id, doc_id
SELECT
  group_id, query_id, doc_id,
  ROW_NUMBER() OVER (PARTITION BY group_id, query_id ORDER BY score DESC, rank, doc_id DESC) AS baseline_rank -- position in the baseline's list, from 1
FROM baseline
