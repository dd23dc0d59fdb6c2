-- json_levels: the JSON types of the values in an object of a file, and of the values in these, each pair of types with one of the latter.
-- $path: text: a file, or a glob.
-- $object: text: the path of the object in the file.
-- Grain: query_type, document_type
SELECT JSON_TYPE(query.value) AS query_type, JSON_TYPE(document.value) AS document_type, MIN(CAST(document.value AS VARCHAR)) AS example
FROM READ_TEXT($path) AS file, JSON_EACH(file.content, $object) AS query, JSON_EACH(query.value) AS document
WHERE JSON_TYPE(file.content, $object) = 'OBJECT'
GROUP BY JSON_TYPE(query.value), JSON_TYPE(document.value)
ORDER BY query_type, document_type
