-- err_at: ERR@k of one list, in which a reader stops at a relevant document with probability 1/16, that of grade 1 of 4.
-- $k: integer from 1: cut-off, the number of top-ranked documents that count.
CREATE MACRO err_at(retrieved, relevant, k) AS CASE
  WHEN LEN(relevant) > 0 THEN COALESCE(
    LIST_SUM(
      LIST_TRANSFORM(relevant_ranks(retrieved, relevant, k), LAMBDA rank, hits : EXP((hits - 1) * LN(0.9375)) * 0.0625 / rank)
    ),
    0
  )
END
