-- subtopic_ranks: one row per list, subtopic and relevant document: rank, and number of the subtopic's relevant documents down to it and in all.
-- Rows have no ids.
-- Grain: rows of subtopic_judgments
SELECT
  subtopic_judgments.list_id,
  ranked_documents.rank, -- NULL if not retrieved
  ROW_NUMBER() OVER (
    PARTITION BY subtopic_judgments.list_id, subtopic_judgments.subtopic
    ORDER BY CASE WHEN ranked_documents.rank IS NULL THEN 1 ELSE 0 END, ranked_documents.rank
  ) AS subtopic_hits, -- relevant documents down to this rank; 1 for the first
  COUNT(*) OVER (PARTITION BY subtopic_judgments.list_id, subtopic_judgments.subtopic) AS subtopic_size -- its relevant documents, retrieved or not
FROM subtopic_judgments
LEFT JOIN ranked_documents
  ON ranked_documents.list_id = subtopic_judgments.list_id AND ranked_documents.doc_id = subtopic_judgments.doc_id
