-- SearchReduction: share of the documents of the baseline, the stage before, by which a list is shorter.
-- no_relevant(): default skip: what becomes of a list for which it is not defined.
-- Undefined: a query for which the baseline has no documents.
-- Before: baseline.
-- Source: sqlrank; the reduction ratio of blocking, of lists.
-- Better: neither.
SELECT
  list_id,
  1 - MAX(num_ret) / NULLIF(MAX(docs_before), 0) AS searchreduction
FROM narrowed
GROUP BY list_id
