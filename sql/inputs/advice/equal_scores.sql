-- equal_scores: lists of several documents, and those of which all have one score.
-- Grain: one row
SELECT
  COUNT(*) AS lists,
  SUM(has_one_score) AS equal_lists
FROM (
  SELECT
    query_id,
    CASE WHEN MIN(score) = MAX(score) THEN 1 ELSE 0 END AS has_one_score
  FROM run
  GROUP BY query_id
  HAVING COUNT(*) > 1
) AS lists
