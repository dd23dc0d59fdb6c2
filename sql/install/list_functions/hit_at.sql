-- hit_at: Success@k of one list: 1 if a relevant document is among the first k, else 0.
-- $k: integer from 1: cut-off, the number of top-ranked documents that count.
CREATE MACRO hit_at(retrieved, relevant, k) AS CASE
  WHEN LEN(relevant) > 0 THEN CASE WHEN LEN(relevant_ranks(retrieved, relevant, k)) > 0 THEN 1.0 ELSE 0.0 END
END
