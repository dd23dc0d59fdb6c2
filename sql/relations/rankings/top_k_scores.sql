-- top_k_scores: one row per list that is not empty: its k-th highest score.
-- $num_ranked: integer from 1: number of top-ranked documents of a list that are needed, without ties.
-- Engines: duckdb
-- Grain: list_id
SELECT
  ranked_lists.list_id,
  LIST_MIN(MAX(run.score, $num_ranked)) AS kth_score -- the lowest score if the list has fewer documents
FROM run
JOIN ranked_lists ON ranked_lists.group_id = run.group_id AND ranked_lists.query_id = run.query_id
GROUP BY ranked_lists.list_id
