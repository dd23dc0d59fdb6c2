-- document_rank: position of a document in its list, by score, ties by the rank column of the run.
CREATE MACRO document_rank(list_id, score, input_rank, doc_id) AS
  ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC, input_rank, doc_id DESC)
