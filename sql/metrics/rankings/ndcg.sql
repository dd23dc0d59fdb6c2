-- nDCG: discounted gain of the documents at ranks 1 to k over that of the ideal ranking.
--     nDCG@k = (sum over i <= k of gain(r_i) discount(i)) / the same sum over the ideal order
-- Full name: normalized discounted cumulative gain.
-- Use when: judgments have grades and the top of the list matters most. For one right answer, MRR is easier to explain.
-- Reading: 1 is the ideal order, and 0.63 the value of a single relevant document at rank 2. A drop can come from documents that nobody judged.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- gain(): default linear: gain of a grade.
-- discount(): default log2: discount at a rank.
-- ideal: default judged: which documents the ideal ranking is made of.
-- Range: 0 to 1, but not under ideal=binary_k, discount=map.
-- Undefined: a query without a document of positive gain.
-- Source: Järvelin & Kekäläinen 2002; trec_eval ndcg, ndcg_cut.
SELECT
  list_id,
  SUM(CASE WHEN rank <= $k THEN discounted_gain ELSE 0 END)
    / NULLIF(SUM(CASE WHEN ideal_rank <= $k THEN ideal_discounted_gain ELSE 0 END), 0) AS ndcg
FROM discounted_gains
GROUP BY list_id
