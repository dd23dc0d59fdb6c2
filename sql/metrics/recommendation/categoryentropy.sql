-- CategoryEntropy: Shannon's entropy of the categories of the first k documents of a list; one of several has a part of each.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- no_relevant(): default skip: what becomes of a list for which it is not defined.
-- Undefined: no document of the list has a category.
-- Unit: nats.
-- Source: Shannon 1948; natural logarithm.
SELECT
  list_id,
  SUM(portion * LN(1 / NULLIF(portion, 0))) AS categoryentropy
FROM topical
GROUP BY list_id
