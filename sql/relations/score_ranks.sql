-- score_ranks: one row per ranked list and distinct score, with the first rank of its documents, and whether several have it.
-- Engines: duckdb
-- Grain: list_id, score
SELECT
  list_id,
  score,
  tie_first_rank,
  CASE WHEN next_score IS NOT DISTINCT FROM score THEN 1 ELSE 0 END AS is_tied,
  list_length
FROM (
  SELECT
    list_id,
    score,
    RANK() OVER (PARTITION BY list_id ORDER BY score DESC) AS tie_first_rank,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC) AS place,
    LEAD(score) OVER (PARTITION BY list_id ORDER BY score DESC) AS next_score,
    COUNT(*) OVER (PARTITION BY list_id) AS list_length
  FROM (
    SELECT
      l.list_id,
      r.score
    FROM run AS r
    JOIN ranked_lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
  ) AS scores
) AS numbered
WHERE place = tie_first_rank
