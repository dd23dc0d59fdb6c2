-- AR: average recall, the mean of the recalls at 1 to k.
--     AR@k = 1/k sum over i <= k of R@i
-- $k: integer from 1: cut-off, the documents of a list that are looked at.
-- denominator(): default k: what the sum of the recalls is divided by.
-- Bounds: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: Elliot MAR.
-- Linear: in chance.
SELECT
  list_id,
  COALESCE(
    SUM(CASE WHEN rank <= $k THEN chance * ($k - rank + 1) ELSE 0 END) / NULLIF(SUM(docs), 0)
      / NULLIF(denominator($k, SUM(docs), MAX(num_ret), SUM(CASE WHEN rank <= $k THEN chance ELSE 0 END)), 0),
    0
  ) AS ar
FROM relevant
GROUP BY list_id
