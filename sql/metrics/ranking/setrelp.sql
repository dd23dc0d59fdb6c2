-- SetRelP: precision of the retrieved documents as a set, over the best possible: hits / min(retrieved, relevant).
-- Bounds: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval set_relative_P.
SELECT
  list_id,
  CASE
    WHEN MAX(num_rel) = 0 THEN NULL
    WHEN MAX(num_ret) = 0 THEN 0
    ELSE MAX(num_rel_ret) / NULLIF(CASE WHEN MAX(num_ret) < MAX(num_rel) THEN MAX(num_ret) ELSE MAX(num_rel) END, 0)
  END AS setrelp
FROM sets
GROUP BY list_id
