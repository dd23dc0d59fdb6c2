-- SetR: recall of the retrieved documents as a set.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval set_recall.
SELECT
  list_id,
  MAX(num_relevant_retrieved) / NULLIF(MAX(num_relevant), 0) AS set_r
FROM list_counts
GROUP BY list_id
