-- ngram_shares: one row per list and document of the catalog that share an n-gram: the share of the query's n-grams in the document.
-- Nonzero: MAX(shared_ngrams.num_ngrams)
-- Grain: list_id, doc_id
SELECT
  shared_ngrams.list_id, shared_ngrams.doc_id,
  COUNT(*) / MAX(shared_ngrams.num_ngrams) AS contained_share -- of the distinct n-grams of the query
FROM (
  -- one row per list, document and distinct n-gram of the query in the document
  SELECT
    counted_ngrams.list_id, item_ngrams.doc_id,
    MAX(counted_ngrams.num_ngrams) AS num_ngrams
  FROM (
    -- one row per group, list and distinct n-gram of its query
    SELECT
      ranked_lists.group_id, distinct_ngrams.list_id, distinct_ngrams.ngram,
      COUNT(*) OVER (PARTITION BY distinct_ngrams.list_id) AS num_ngrams
    FROM ranked_lists
    JOIN (
      -- one row per list and distinct n-gram of its query
      SELECT list_id, ngram
      FROM query_ngrams
      GROUP BY list_id, ngram
    ) AS distinct_ngrams ON distinct_ngrams.list_id = ranked_lists.list_id
  ) AS counted_ngrams
  JOIN item_ngrams ON item_ngrams.group_id = counted_ngrams.group_id AND item_ngrams.ngram = counted_ngrams.ngram
  GROUP BY counted_ngrams.list_id, counted_ngrams.ngram, item_ngrams.doc_id
) AS shared_ngrams
GROUP BY shared_ngrams.list_id, shared_ngrams.doc_id
