-- topics: one row per query to evaluate: every query with a judgment, answered or not.
SELECT query_id
FROM qrels
GROUP BY query_id
