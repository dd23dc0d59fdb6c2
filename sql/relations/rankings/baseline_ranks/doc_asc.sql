-- baseline_ranks: one row per group, query and document of the baseline run: its rank by score, with ties by doc_id, smallest first.
-- Grain: group_id, query_id, doc_id
SELECT
  group_id, query_id, doc_id,
  ROW_NUMBER() OVER (
    PARTITION BY group_id, query_id ORDER BY score DESC, doc_id
  ) AS baseline_rank -- position in the baseline's list, from 1
FROM baseline
