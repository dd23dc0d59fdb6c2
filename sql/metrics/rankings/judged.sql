-- Judged: share of the first k documents that have a judgment.
--     Judged@k = judged documents among the first k / min(k, retrieved)
-- Use when: you need to know if your judgments cover what a new system retrieves, before you trust other metrics.
-- $k: integer from 1: cut-off, the number of top-ranked documents of a list that count.
-- denominator(): default retrieved: what the judged documents are divided by.
-- negative_grades: default unjudged: what a retrieved document of a grade below 0 counts as.
-- Direction: neither.
-- Range: 0 to 1.
-- Undefined: a query without retrieved documents.
-- Source: ir_measures Judged.
SELECT
  list_id,
  SUM(CASE WHEN rank <= $k THEN 1 ELSE 0 END)
    / NULLIF(denominator($k, $k, MAX(list_length), SUM(CASE WHEN rank <= $k THEN 1 ELSE 0 END)), 0) AS judged
FROM judged_retrieved_documents
GROUP BY list_id
