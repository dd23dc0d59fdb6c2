-- MeanPopularity: number of users with a document in their history, averaged over the first k of a list.
-- Use when: you want to see if a system only recommends popular items.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Direction: neither.
-- Range: 0 to inf.
-- Undefined: a list without documents.
-- Unit: users.
-- Source: Yin et al. 2012; RecTools AvgRecPopularity, which counts interactions, not users.
SELECT
  list_id,
  AVG(CASE WHEN rank <= $k THEN num_users END) AS mean_popularity
FROM recommendation_novelty
GROUP BY list_id
