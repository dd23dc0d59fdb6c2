-- listed_queries: one row per group and query of answers.
-- Grain: group_id, query_id
SELECT group_id, query_id
FROM answers
