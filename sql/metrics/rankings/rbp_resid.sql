-- RBPresid: the most that unjudged documents could add to RBP; 0 if every retrieved document is judged.
--     RBPresid = sum over i in ranks of (1 - p) p^(i-1)
-- The ranks are those that hold unjudged documents, and all after the last one.
-- Full name: residual of rank-biased precision.
-- Use when: you report RBP and some retrieved documents are unjudged. A large value means that you need more judgments.
-- $p: number above 0 to 1, default 0.8: persistence, the probability of going on to the next document.
-- negative_grades: default unjudged: what a retrieved document of a grade below 0 counts as.
-- Direction: neither.
-- Range: 0 to 1.
-- Undefined: a query without retrieved documents.
-- Source: Moffat & Zobel 2008; trec_eval rbp_resid.
SELECT
  list_id,
  CASE
    WHEN COUNT(rank) < MAX(list_length)
      THEN 1 - (1 - $p) * SUM(CASE WHEN rank IS NULL THEN 0 ELSE exp_or_zero((rank - 1) * LN($p)) END)
    ELSE 0
  END AS rbp_resid
FROM judged_retrieved_documents
GROUP BY list_id
