-- ranked: one row per retrieved document with the ranks that its tie group covers, first_rank to last_rank.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Spread: over the ranks of a tie group, unless ties are broken.
SELECT
  list_id,
  doc_id,
  rank,
  first_rank,
  last_rank,
  CASE WHEN retrieved_docs > $depth THEN $depth ELSE retrieved_docs END AS num_ret
FROM (
  SELECT
    list_id,
    doc_id,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC, doc_id DESC) AS rank,
    RANK() OVER (PARTITION BY list_id ORDER BY score DESC) AS first_rank,
    COUNT(*) OVER (PARTITION BY list_id ORDER BY score DESC) AS last_rank,
    COUNT(*) OVER (PARTITION BY list_id) AS retrieved_docs
  FROM retrieved
) AS numbered
