-- Rndcg: nDCG averaged over the ranks at which the grade of the ideal ranking changes, and the end of the list.
--     Rndcg = mean over i in ranks of nDCG@i
-- The ranks are those at which the ideal grade changes, and the end of a list with at least two documents more than have gain.
-- Use when: you want nDCG without the choice of a cut-off, and the number of documents of each grade differs by query.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant; it decides only where the metric is defined.
-- Range: 0 to 1, but not under discount=map.
-- Undefined: a query without relevant documents.
-- Source: trec_eval Rndcg (experimental).
SELECT
  list_id,
  CASE WHEN MAX(relevance) >= $rel THEN 1 END * (
    SUM(CASE WHEN is_last_of_grade = 1 THEN dcg / NULLIF(idcg, 0) ELSE 0 END)
    + CASE WHEN MAX(list_length) > SUM(CASE WHEN ideal_gain > 0 THEN 1 ELSE 0 END) + 1 THEN 1 ELSE 0 END
      * MAX(dcg) / NULLIF(MAX(idcg), 0)
  ) / NULLIF(
    SUM(is_last_of_grade)
    + CASE WHEN MAX(list_length) > SUM(CASE WHEN ideal_gain > 0 THEN 1 ELSE 0 END) + 1 THEN 1 ELSE 0 END, 0
  ) AS rndcg
FROM cumulative_gains
GROUP BY list_id
