-- document_rank: position of a document in its list, as the run gives it.
CREATE MACRO document_rank(list_id, score, input_rank, doc_id) AS
  CAST(input_rank AS BIGINT)
