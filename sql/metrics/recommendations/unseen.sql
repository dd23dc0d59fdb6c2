-- Unseen: share of the first k documents that are not in the user's history.
--     Unseen@k = new documents among the first k / documents among the first k
-- Use when: you want to see how many recommended items a user has not had before.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Range: 0 to 1.
-- Undefined: a list without documents.
-- Source: RePlay Novelty.
SELECT
  list_id,
  AVG(CASE WHEN rank <= $k THEN is_unseen END) AS unseen
FROM recommendation_novelty
GROUP BY list_id
