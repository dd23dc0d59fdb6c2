-- CG: cumulative gain, the sum of the gains of the first k documents.
--     CG@k = sum over i <= k of gain(r_i)
-- Full name: cumulative gain.
-- Use when: you want the total gain of the first k documents regardless of their order.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- gain(): default linear: gain of a grade.
-- Range: 0 to inf.
-- Undefined: a query without relevant documents.
-- Source: Järvelin & Kekäläinen 2002.
-- Tie expectation: linear (in rank_probability)
SELECT
  list_id,
  CASE
    WHEN MAX(gain(relevance)) > 0 THEN SUM(CASE WHEN rank <= $k THEN rank_probability * gain(relevance) ELSE 0 END)
  END AS cg
FROM documents_with_gain
GROUP BY list_id
