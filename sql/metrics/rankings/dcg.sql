-- DCG: discounted cumulative gain, the sum of gain * discount over the first k documents.
--     DCG@k = sum over i <= k of gain(r_i) discount(i)
-- Full name: discounted cumulative gain.
-- Use when: you sum over queries or compare gains of the same query. Across queries, prefer nDCG, which has a fixed maximum.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- gain(): default linear: gain of a grade.
-- discount(): default log2: discount at a rank.
-- Range: 0 to inf.
-- Undefined: a query without relevant documents.
-- Source: Järvelin & Kekäläinen 2002.
SELECT
  list_id,
  CASE
    WHEN MAX(ideal_discounted_gain) > 0 THEN SUM(CASE WHEN rank <= $k THEN discounted_gain ELSE 0 END)
  END AS dcg
FROM discounted_gains
GROUP BY list_id
