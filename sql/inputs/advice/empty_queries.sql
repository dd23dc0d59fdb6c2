-- empty_queries: the queries that have no documents, which rows cannot hold, of objects or lists of documents.
-- Grain: key
SELECT query.key
FROM queries AS query
WHERE CASE WHEN JSON_TYPE(query.value) = 'ARRAY' THEN JSON_ARRAY_LENGTH(query.value) ELSE LEN(JSON_KEYS(query.value)) END = 0
ORDER BY query.key
