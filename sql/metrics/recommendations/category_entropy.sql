-- CategoryEntropy: Shannon's entropy of the categories of the first k documents of a list; one of several has a part of each.
--     CategoryEntropy@k = - sum over categories c of p(c) ln(p(c))
-- Use when: lists should cover several categories.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Range: 0 to inf.
-- Undefined: no document of the list has a category.
-- Unit: nats.
-- Source: Shannon 1948; natural logarithm.
SELECT
  list_id,
  SUM(category_share * LN(1 / NULLIF(category_share, 0))) AS category_entropy
FROM list_category_counts
GROUP BY list_id
