-- Unexpectedness: share of the first k that the baseline does not show in its first k.
-- Use when: you compare a recommender with a simple baseline, such as popularity, and want items that this doesn't show.
-- $k: integer from 1: cut-off, the number of top-ranked documents of a list that count.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Range: 0 to 1.
-- Undefined: a list without documents.
-- Source: RePlay Unexpectedness; Ge et al. 2010.
SELECT
  list_id,
  1 - SUM(CASE WHEN overlap_depth <= $k THEN 1 ELSE 0 END) / $k AS unexpectedness
FROM baseline_overlap
GROUP BY list_id
