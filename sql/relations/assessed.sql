-- assessed: one row per retrieved document with a judgment, and one without rank for each list that holds documents.
SELECT
  a.list_id,
  CAST(NULL AS BIGINT) AS rank,
  a.num_ret
FROM answers AS a
UNION ALL
SELECT
  j.list_id,
  j.rank,
  j.num_ret
FROM judged AS j
WHERE j.rank IS NOT NULL AND j.relevance >= 0
