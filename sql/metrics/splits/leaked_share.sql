-- LeakedShare: share of queries that leaked: one document contains at least the threshold of their word n-grams.
-- Use when: your queries could have been made of the documents, or copied into them, such as benchmark questions in training data.
-- $n: integer from 1, default 3: number of words of an n-gram.
-- $threshold: number above 0 to 1, default 0.6: least share of the n-grams of a query in one document.
-- if_undefined(): default skip: what a query with too few words counts.
-- Range: 0 to 1.
-- Direction: lower
-- Undefined: a query with fewer than n words.
-- Source: containment of sets of shingles, Broder 1997.
SELECT
  list_id,
  MAX(CASE WHEN contained_share >= $threshold THEN 1 WHEN contained_share IS NOT NULL THEN 0 END) AS leaked_share
FROM query_containment
GROUP BY list_id
