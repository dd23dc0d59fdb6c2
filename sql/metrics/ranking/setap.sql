-- SetAP: precision times recall of the retrieved documents as a set.
-- Bounds: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval set_map.
SELECT
  list_id,
  CASE
    WHEN MAX(num_rel) = 0 THEN NULL
    WHEN MAX(num_ret) = 0 THEN 0
    ELSE (MAX(num_rel_ret) / NULLIF(MAX(num_ret), 0)) * (MAX(num_rel_ret) / NULLIF(MAX(num_rel), 0))
  END AS setap
FROM sets
GROUP BY list_id
