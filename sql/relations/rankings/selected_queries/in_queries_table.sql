-- selected_queries: one row per group and query to evaluate that the queries table has.
-- Grain: group_id, query_id
SELECT evaluated_queries.group_id, evaluated_queries.query_id
FROM evaluated_queries
JOIN queries ON queries.query_id = evaluated_queries.query_id
