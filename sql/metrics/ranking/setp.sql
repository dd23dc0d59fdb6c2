-- SetP: precision of the retrieved documents as a set.
-- Bounds: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval set_P.
SELECT
  list_id,
  CASE WHEN MAX(num_rel) > 0 THEN COALESCE(MAX(num_rel_ret) / NULLIF(MAX(num_ret), 0), 0) END AS setp
FROM sets
GROUP BY list_id
