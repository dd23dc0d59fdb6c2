-- document_rank: position of a document in its list, by score, ties by doc_id, greatest first, as trec_eval.
CREATE MACRO document_rank(list_id, score, input_rank, doc_id) AS
  ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC, doc_id DESC)
