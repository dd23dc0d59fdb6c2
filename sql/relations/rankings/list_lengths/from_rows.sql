-- list_lengths: one row per list that is not empty: number of its retrieved documents, capped at the depth.
-- $depth: integer from 1, default all: number of documents of a list that are read.
-- Grain: list_id
SELECT
  list_id,
  CASE WHEN COUNT(*) > $depth THEN $depth ELSE COUNT(*) END AS list_length -- at most the depth
FROM retrieved_documents
GROUP BY list_id
