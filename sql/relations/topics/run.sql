-- topics: one row per query to evaluate: every query with an answer, judged or not.
SELECT query_id
FROM run
GROUP BY query_id
