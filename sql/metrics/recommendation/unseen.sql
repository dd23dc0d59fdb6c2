-- Unseen: share of the first k documents that the user did not have before.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- no_relevant(): default skip: what becomes of a list for which it is not defined.
-- Bounds: 0 to 1.
-- Undefined: a list without documents.
-- Source: RePlay Novelty.
SELECT
  list_id,
  AVG(CASE WHEN rank <= $k THEN is_new END) AS unseen
FROM familiar
GROUP BY list_id
