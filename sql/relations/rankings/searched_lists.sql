-- searched_lists: one row per list and judged document, or list without any: relevance, rank, and the list's counts of documents and NULL ids.
-- The rank is the first position in the list; where documents are repeated, the number of distinct documents down to it. Nothing is sorted.
-- Lists without judgments have a row for the count of ids that are NULL, so that these are found without another read of all lists.
-- Engines: duckdb
-- Materialize: every list is searched.
-- Grain: many per list_id
SELECT
  ranked_lists.list_id, judgments.relevance,
  CASE
    WHEN retrieved_lists.num_documents = ARRAY_LENGTH(retrieved_lists.retrieved)
      THEN ARRAY_POSITION(retrieved_lists.retrieved, judgments.doc_id)
    ELSE ARRAY_LENGTH(LIST_DISTINCT(retrieved_lists.retrieved[1:ARRAY_POSITION(retrieved_lists.retrieved, judgments.doc_id)]))
  END AS document_rank, -- at any depth; NULL if not retrieved
  retrieved_lists.num_documents, -- documents in the list
  ARRAY_LENGTH(retrieved_lists.retrieved) - retrieved_lists.num_documents AS num_repeated, -- documents that repeat others, where the first do
  retrieved_lists.num_null_ids -- ids in the list that are NULL
FROM judgments
RIGHT JOIN ranked_lists ON ranked_lists.list_id = judgments.list_id
LEFT JOIN retrieved_lists ON retrieved_lists.list_id = ranked_lists.list_id
