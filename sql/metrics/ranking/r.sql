-- R: recall, the share of the relevant documents that stand among the first k.
--     R@k = hits in the first k / relevant documents, retrieved or not
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- denominator(): default relevant: what the hits are divided by.
-- Bounds: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval recall.
-- Linear: in chance.
SELECT
  list_id,
  COALESCE(
    SUM(CASE WHEN rank <= $k THEN chance ELSE 0 END)
      / NULLIF(denominator($k, SUM(docs), MAX(num_ret), SUM(CASE WHEN rank <= $k THEN chance ELSE 0 END)), 0),
    0
  ) AS r
FROM relevant
GROUP BY list_id
