-- empty_queries: one row per query without documents, which rows cannot hold, of objects or lists of documents.
-- Grain: key
SELECT queries.key
FROM queries
WHERE CASE WHEN JSON_TYPE(queries.value) = 'ARRAY' THEN JSON_ARRAY_LENGTH(queries.value) ELSE LEN(JSON_KEYS(queries.value)) END = 0
ORDER BY queries.key
