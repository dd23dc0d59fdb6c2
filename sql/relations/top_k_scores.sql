-- top_k_scores: one row per ranked list, with its k-th highest score, or the lowest if it has fewer documents.
-- $num_ranked: integer from 1: number of top-ranked documents of a list that are needed, without ties.
-- Engines: duckdb
-- Grain: list_id
SELECT
  l.list_id,
  LIST_MIN(MAX(r.score, $num_ranked)) AS kth_score
FROM run AS r
JOIN ranked_lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
GROUP BY l.list_id
