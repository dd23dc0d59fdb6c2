-- R: recall, the share of the relevant documents that are among the first k.
--     R@k = hits in the first k / relevant documents, retrieved or not
-- Full name: recall.
-- Use when: a later stage, such as a reranker or a language model, reads the first k documents. It ignores their order.
-- Reading: 0.8 means that 80 % of the relevant documents are among the first k, so it rises with k. A query with 20 relevant documents can reach only 0.5 at a cut-off of 10.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- denominator(): default relevant: what the hits are divided by.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval recall.
-- Tie expectation: linear (in rank_probability)
SELECT
  list_id,
  COALESCE(
    SUM(CASE WHEN rank <= $k THEN rank_probability ELSE 0 END)
      / NULLIF(denominator($k, SUM(doc_count), MAX(list_length), SUM(CASE WHEN rank <= $k THEN rank_probability ELSE 0 END)), 0),
    0
  ) AS r
FROM relevant_documents
GROUP BY list_id
