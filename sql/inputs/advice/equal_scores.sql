-- equal_scores: one row: queries of a run, those with several documents, and of these the ones in which all have one score.
-- Grain: one row
SELECT
  SUM(has_one_score) AS num_equal,
  COUNT(has_one_score) AS num_several,
  COUNT(*) AS num_queries
FROM (
  -- one row per query
  SELECT
    query_id,
    CASE WHEN COUNT(*) > 1 THEN CASE WHEN MIN(score) = MAX(score) THEN 1 ELSE 0 END END AS has_one_score
  FROM run
  GROUP BY query_id
) AS lists
