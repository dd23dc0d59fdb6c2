-- rr_at: RR@k of one list: the reciprocal rank of the first relevant document, 0 if none is among the first k.
-- $k: integer from 1: cut-off, the number of top-ranked documents that count.
CREATE MACRO rr_at(retrieved, relevant, k) AS CASE
  WHEN LEN(relevant) > 0 THEN COALESCE(1 / LIST_MIN(relevant_ranks(retrieved, relevant, k)), 0)
END
