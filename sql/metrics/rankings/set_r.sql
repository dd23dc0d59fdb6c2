-- SetR: recall of the retrieved documents as a set.
--     SetR = hits / relevant
-- Full name: recall of a set.
-- Use when: the result is a set without an order and you must not miss relevant documents, as in legal or medical search.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval set_recall.
SELECT
  list_id,
  MAX(num_relevant_retrieved) / NULLIF(MAX(num_relevant), 0) AS set_r -- of its one row
FROM list_counts
GROUP BY list_id
