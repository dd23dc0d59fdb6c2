-- MeanPopularity: how many users had a document before, on the mean over the first k of a list.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- no_relevant(): default skip: what becomes of a list for which it is not defined.
-- Undefined: a list without documents.
-- Unit: users.
-- Source: Yin et al. 2012; RecTools AvgRecPopularity.
-- Better: neither.
SELECT
  list_id,
  AVG(CASE WHEN rank <= $k THEN users END) AS meanpopularity
FROM familiar
GROUP BY list_id
