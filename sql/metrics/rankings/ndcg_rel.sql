-- nDCGrel: nDCG averaged over the ranks of the relevant documents; unretrieved ones count the nDCG of the whole list.
--     nDCGrel = mean over the R documents of positive gain of nDCG@i, i the rank of the document, or the whole list
-- Use when: you want to reward lists at the ranks where relevant documents are, without a cut-off.
-- Range: 0 to 1, but not under discount=map.
-- Undefined: a query without a document of positive gain.
-- Source: trec_eval ndcg_rel (experimental).
SELECT
  list_id,
  (
    SUM(CASE WHEN gain > 0 THEN dcg / NULLIF(idcg, 0) ELSE 0 END)
    + SUM(CASE WHEN ideal_gain > 0 THEN 1 ELSE 0 END - CASE WHEN gain > 0 THEN 1 ELSE 0 END)
      * MAX(dcg) / NULLIF(MAX(idcg), 0)
  ) / NULLIF(SUM(CASE WHEN ideal_gain > 0 THEN 1 ELSE 0 END), 0) AS ndcg_rel
FROM cumulative_gains
GROUP BY list_id
