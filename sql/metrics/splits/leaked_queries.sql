-- LeakedQueries: one row per group, leaked query and document that contains it, the greatest share first.
-- Use when: you want to see which queries leaked, and from which documents.
-- $n: integer from 1, default 3: number of words of an n-gram.
-- $threshold: number above 0 to 1, default 0.6: least share of the n-grams of a query in one document.
-- Undefined: no row without a leaked query.
-- Source: containment of sets of shingles, Broder 1997.
SELECT
  list_groups.group_id,
  ROW_NUMBER() OVER (
    PARTITION BY list_groups.group_id ORDER BY ngram_shares.contained_share DESC, list_groups.query_id, ngram_shares.doc_id
  ) AS point, -- number of the row, from 1 for the greatest share
  list_groups.query_id, ngram_shares.doc_id,
  ngram_shares.contained_share -- of the distinct n-grams of the query
FROM ngram_shares
JOIN list_groups ON list_groups.list_id = ngram_shares.list_id
WHERE ngram_shares.contained_share >= $threshold
