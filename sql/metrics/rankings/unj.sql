-- Unj: unjudged documents among the first k, divided by k.
--     Unj@k = unjudged documents among the first k / k
-- Full name: share of unjudged documents.
-- Use when: you need to know how many of the first k results nobody has judged, before you trust other metrics.
-- $k: integer from 1: cut-off, the number of top-ranked documents of a list that count.
-- negative_grades: default unjudged: what a retrieved document of a grade below 0 counts as.
-- Direction: lower.
-- Range: 0 to 1.
-- Undefined: a query without retrieved documents.
-- Source: trec_eval unj.
SELECT
  list_id,
  (smaller(MAX(list_length), $k) - SUM(CASE WHEN rank <= $k THEN 1 ELSE 0 END)) / $k AS unj
FROM judged_retrieved_documents
GROUP BY list_id
