-- empty_queries: the queries of a file of JSON that have no documents, which rows cannot hold.
-- $path: text: a file with an object or a list of documents for each query.
-- $object: text: the path of the object of queries in the file.
-- Grain: key
SELECT query.key
FROM READ_TEXT($path) AS file, JSON_EACH(file.content, $object) AS query
WHERE CASE WHEN JSON_TYPE(query.value) = 'ARRAY' THEN JSON_ARRAY_LENGTH(query.value) ELSE LEN(JSON_KEYS(query.value)) END = 0
ORDER BY query.key
