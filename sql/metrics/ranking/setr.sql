-- SetR: recall of the retrieved documents as a set.
-- Bounds: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval set_recall.
SELECT
  list_id,
  MAX(num_rel_ret) / NULLIF(MAX(num_rel), 0) AS setr
FROM sets
GROUP BY list_id
