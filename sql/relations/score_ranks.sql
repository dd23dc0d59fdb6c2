-- score_ranks: one row per list and score, with the rank of the first of the documents that have it; is_tied is 1 if there are several.
-- Engine: duckdb
SELECT
  list_id,
  score,
  first_rank,
  CASE WHEN next_score IS NOT DISTINCT FROM score THEN 1 ELSE 0 END AS is_tied,
  retrieved_docs
FROM (
  SELECT
    list_id,
    score,
    RANK() OVER (PARTITION BY list_id ORDER BY score DESC) AS first_rank,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC) AS place,
    LEAD(score) OVER (PARTITION BY list_id ORDER BY score DESC) AS next_score,
    COUNT(*) OVER (PARTITION BY list_id) AS retrieved_docs
  FROM (
    SELECT
      l.list_id,
      r.score
    FROM run AS r
    JOIN lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
  ) AS scores
) AS numbered
WHERE place = first_rank
