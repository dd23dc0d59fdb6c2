-- list_lengths: one row per list that is not empty: number of distinct documents in its array, capped at the depth.
-- $depth: integer from 1, default all: number of documents of a list that are read.
-- Grain: list_id
SELECT
  list_id,
  CASE WHEN num_documents > $depth THEN $depth ELSE num_documents END AS list_length -- at most the depth
FROM retrieved_lists
WHERE num_documents > 0
