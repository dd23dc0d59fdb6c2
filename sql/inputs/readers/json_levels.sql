-- json_levels: the JSON types of the values of queries, and of the values in these, each pair of types with one of the latter.
-- Grain: query_type, document_type
SELECT JSON_TYPE(query.value) AS query_type, JSON_TYPE(document.value) AS document_type, MIN(CAST(document.value AS VARCHAR)) AS example
FROM queries AS query, JSON_EACH(query.value) AS document
GROUP BY JSON_TYPE(query.value), JSON_TYPE(document.value)
ORDER BY query_type, document_type
