-- json_levels: one row per pair of JSON types, of the values of queries and of the values in these, with one of the latter.
-- Grain: query_type, document_type
SELECT JSON_TYPE(queries.value) AS query_type, JSON_TYPE(json_each.value) AS document_type, MIN(CAST(json_each.value AS VARCHAR)) AS example
FROM queries, JSON_EACH(queries.value)
GROUP BY JSON_TYPE(queries.value), JSON_TYPE(json_each.value)
ORDER BY query_type, document_type
