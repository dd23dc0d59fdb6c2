-- P: precision, the share of relevant documents among the first k.
--     P@k = hits in the first k / k
-- $k: integer from 1: cut-off, the documents of a list that are looked at.
-- denominator(): default k: what the hits are divided by.
-- Bounds: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval P; van Rijsbergen 1979.
-- Linear: in chance.
SELECT
  list_id,
  COALESCE(
    SUM(CASE WHEN rank <= $k THEN chance ELSE 0 END)
      / NULLIF(denominator($k, SUM(docs), MAX(num_ret), SUM(CASE WHEN rank <= $k THEN chance ELSE 0 END)), 0),
    0
  ) AS p
FROM relevant
GROUP BY list_id
