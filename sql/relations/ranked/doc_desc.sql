-- ranked: one row per retrieved document with its rank; equal scores by doc_id, greatest first, as trec_eval.
-- $depth: integer from 1, default all: how many documents of a list are read.
SELECT
  list_id,
  doc_id,
  rank,
  CASE WHEN retrieved_docs > $depth THEN $depth ELSE retrieved_docs END AS num_ret
FROM (
  SELECT
    list_id,
    doc_id,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC, doc_id DESC) AS rank,
    COUNT(*) OVER (PARTITION BY list_id) AS retrieved_docs
  FROM retrieved
) AS numbered
WHERE rank <= $depth
