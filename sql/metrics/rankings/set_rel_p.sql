-- SetRelP: precision of the retrieved documents as a set, over the best that as many can have.
--     SetRelP = hits / min(retrieved, relevant)
-- Full name: relative precision of a set.
-- Use when: the result is a set without an order and some queries have fewer relevant documents than you retrieve.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval set_relative_P.
SELECT
  list_id,
  CASE
    WHEN MAX(num_relevant) = 0 THEN NULL
    WHEN MAX(num_retrieved) = 0 THEN 0
    ELSE MAX(num_relevant_retrieved) / NULLIF(smaller(MAX(num_retrieved), MAX(num_relevant)), 0)
  END AS set_rel_p
FROM list_counts
GROUP BY list_id
