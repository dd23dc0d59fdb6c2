-- P: precision, the share of the documents at ranks 1 to k that are relevant.
--     P@k = hits in the first k / k
-- Full name: precision.
-- Use when: users see a page of k results and each counts the same. It cannot reach 1 if a query has fewer than k relevant documents.
-- Reading: 0.3 at a cut-off of 10 means 3 relevant documents among the first 10. A query with 2 relevant documents can reach only 0.2.
-- $k: integer from 1: cut-off, the number of top-ranked documents of a list that count.
-- denominator(): default k: what the hits are divided by.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval P; van Rijsbergen 1979.
-- Tie expectation: linear (in rank_probability)
SELECT
  list_id,
  COALESCE(
    SUM(CASE WHEN rank <= $k THEN rank_probability ELSE 0 END)
      / NULLIF(denominator($k, SUM(doc_count), MAX(list_length), SUM(CASE WHEN rank <= $k THEN rank_probability ELSE 0 END)), 0),
    0
  ) AS p
FROM relevant_documents
GROUP BY list_id
