-- topics: one row per query to evaluate: the queries that are both judged and answered.
SELECT answered.query_id
FROM (SELECT query_id FROM run GROUP BY query_id) AS answered
JOIN (SELECT query_id FROM qrels GROUP BY query_id) AS asked ON asked.query_id = answered.query_id
