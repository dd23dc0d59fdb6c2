-- precision_at: P@k of one list: the share of relevant documents among the first k.
-- $k: integer from 1: cut-off, the number of top-ranked documents that count.
CREATE MACRO precision_at(retrieved, relevant, k) AS CASE
  WHEN LEN(relevant) > 0 THEN LEN(relevant_ranks(retrieved, relevant, k)) / k
END
