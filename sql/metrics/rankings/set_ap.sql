-- SetAP: precision times recall of the retrieved documents as a set.
--     SetAP = (hits / retrieved) (hits / relevant)
-- Full name: average precision of a set.
-- Use when: the result is a set without an order and you want one number that is low if either precision or recall is.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval set_map.
SELECT
  list_id,
  CASE
    WHEN MAX(num_relevant) = 0 THEN NULL
    WHEN MAX(num_retrieved) = 0 THEN 0
    ELSE (MAX(num_relevant_retrieved) / NULLIF(MAX(num_retrieved), 0)) * (MAX(num_relevant_retrieved) / NULLIF(MAX(num_relevant), 0))
  END AS set_ap
FROM list_counts
GROUP BY list_id
