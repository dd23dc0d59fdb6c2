-- ap_at: AP@k of one list: the precision at the ranks of relevant documents up to k, summed, over the number of relevant documents.
-- $k: integer from 1: cut-off, the number of top-ranked documents that count.
CREATE MACRO ap_at(retrieved, relevant, k) AS
  COALESCE(LIST_SUM(LIST_TRANSFORM(relevant_ranks(retrieved, relevant, k), LAMBDA rank, hits : hits / rank)), 0)
  / NULLIF(LEN(LIST_DISTINCT(relevant)), 0)
