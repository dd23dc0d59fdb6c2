-- first_documents: one row per query of a run and document among its first three, by score, as the gate shows them for queries that lost most.
-- Grain: many per query_id
SELECT query_id, doc_id
FROM (
  -- one row per query and retrieved document
  SELECT
    CAST(query_id AS TEXT) AS query_id,
    CAST(doc_id AS TEXT) AS doc_id,
    ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY score DESC, doc_id DESC) AS place
  FROM run
) AS numbered_documents
WHERE place <= 3
ORDER BY query_id, place
