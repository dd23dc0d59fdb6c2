-- MDCG: mean of the DCGs at 1 to k.
--     MDCG@k = 1/k sum over p <= k of DCG@p
-- Full name: mean discounted cumulative gain.
-- Use when: you don't know the cut-off at which users stop and want the average over all of them.
-- $k: integer from 1: cut-off, the number of top-ranked documents of a list that count.
-- gain(): default linear: gain of a grade.
-- discount(): default log2: discount at a rank.
-- Range: 0 to inf.
-- Undefined: a query without relevant documents.
-- Source: the sliding DCG of recommender evaluation frameworks.
SELECT
  list_id,
  CASE
    WHEN MAX(ideal_discounted_gain) > 0 THEN SUM(CASE WHEN rank <= $k THEN discounted_gain * ($k - rank + 1) ELSE 0 END) / $k
  END AS mdcg
FROM discounted_gains
GROUP BY list_id
