-- Rprec: precision at R, the number of relevant documents of the query, or at a multiple of it.
--     Rprec = hits in the first floor(multiple R + 0.9) / floor(multiple R + 0.9)
-- Full name: R-precision.
-- Use when: queries have very different numbers of relevant documents, and one cut-off would be unfair to some.
-- $multiple: number above 0, default 1: which multiple of R is the cut-off.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval Rprec, Rprec_mult.
SELECT
  list_id,
  SUM(CASE WHEN rank <= FLOOR($multiple * num_relevant + 0.9) THEN 1 ELSE 0 END)
    / NULLIF(FLOOR($multiple * MAX(num_relevant) + 0.9), 0) AS rprec
FROM relevant_documents
GROUP BY list_id
