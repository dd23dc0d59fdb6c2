-- json_keys: one row per key of the objects in files of JSON, as they are written.
-- $path: text: a file, or a glob.
-- Grain: key
SELECT DISTINCT UNNEST(JSON_KEYS(json)) AS key
FROM READ_JSON_OBJECTS($path)
ORDER BY key
