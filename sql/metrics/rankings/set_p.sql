-- SetP: precision of the retrieved documents as a set.
--     SetP = hits / retrieved, 0 if nothing is retrieved
-- Full name: precision of a set.
-- Use when: the result is a set without an order, as in Boolean search or in chunks that a language model reads.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval set_P.
SELECT
  list_id,
  CASE WHEN MAX(num_relevant) > 0 THEN COALESCE(MAX(num_relevant_retrieved) / NULLIF(MAX(num_retrieved), 0), 0) END AS set_p
FROM list_counts
GROUP BY list_id
