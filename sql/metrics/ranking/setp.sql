-- SetP: precision of the retrieved documents as a set.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval set_P.
SELECT
  list_id,
  CASE WHEN MAX(num_relevant) > 0 THEN COALESCE(MAX(num_relevant_retrieved) / NULLIF(MAX(num_retrieved), 0), 0) END AS set_p
FROM list_counts
GROUP BY list_id
