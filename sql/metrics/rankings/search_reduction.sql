-- SearchReduction: share of the documents of the baseline, the stage before, by which a list is shorter.
--     SearchReduction = 1 - documents of the list / documents of the baseline
-- Use when: a stage filters candidates, and you want to know how much work it saves the next one.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Direction: neither.
-- Range: -inf to 1.
-- Undefined: a query for which the baseline has no documents.
-- Reads: previous run as baseline.
-- Source: sqlrank; the reduction ratio of blocking, of lists.
SELECT
  list_id,
  1 - MAX(list_length) / NULLIF(MAX(baseline_length), 0) AS search_reduction
FROM list_length_changes
GROUP BY list_id
