-- AR: average recall, the mean of the recalls at 1 to k.
--     AR@k = 1/k sum over i <= k of R@i
-- A hit counts in the recalls from its rank to k: it adds (k - rank + 1) / (k relevant).
-- Full name: average recall.
-- Use when: you don't know the cut-off at which users stop and want the average recall over all of them.
-- $k: integer from 1: cut-off, the number of top-ranked documents of a list that count.
-- denominator(): default k: what the sum of the recalls is divided by.
-- Range: 0 to 1, but not under denominator=relevant, denominator=min_rk, denominator=hits, denominator=retrieved.
-- Undefined: a query without relevant documents.
-- Source: Elliot MAR.
-- Tie expectation: linear (in rank_probability)
SELECT
  list_id,
  COALESCE(
    SUM(CASE WHEN rank <= $k THEN rank_probability * ($k - rank + 1) ELSE 0 END) / NULLIF(SUM(doc_count), 0)
      / NULLIF(denominator($k, SUM(doc_count), MAX(list_length), SUM(CASE WHEN rank <= $k THEN rank_probability ELSE 0 END)), 0),
    0
  ) AS ar
FROM relevant_documents
GROUP BY list_id
