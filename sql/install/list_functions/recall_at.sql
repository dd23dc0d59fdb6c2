-- recall_at: R@k of one list: the share of the relevant documents that are among the first k.
-- $k: integer from 1: cut-off, the number of top-ranked documents that count.
CREATE MACRO recall_at(retrieved, relevant, k) AS
  LEN(relevant_ranks(retrieved, relevant, k)) / NULLIF(LEN(LIST_DISTINCT(relevant)), 0)
