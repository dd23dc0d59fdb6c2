-- ngram_containment: one row per list and document of the catalog that share an n-gram: the share of the query's n-grams in the document.
-- $n: integer from 1, default 3: number of words of an n-gram.
-- Engines: duckdb
-- Nonzero: MAX(shared_ngrams.num_ngrams)
-- Grain: list_id, doc_id
SELECT
  shared_ngrams.list_id,
  shared_ngrams.doc_id,
  COUNT(*) / MAX(shared_ngrams.num_ngrams) AS contained_share -- of the distinct n-grams of the query
FROM (
  -- one row per list, document and distinct n-gram of the query in the document
  SELECT
    counted_ngrams.list_id,
    counted_ngrams.ngram,
    item_ngrams.doc_id,
    MAX(counted_ngrams.num_ngrams) AS num_ngrams
  FROM (
    -- one row per group, list and distinct n-gram of its query
    SELECT
      ranked_lists.group_id,
      query_ngrams.list_id,
      query_ngrams.ngram,
      COUNT(*) OVER (PARTITION BY query_ngrams.list_id) AS num_ngrams
    FROM query_ngrams
    JOIN ranked_lists ON ranked_lists.list_id = query_ngrams.list_id
  ) AS counted_ngrams
  JOIN (
    -- one row per group, item and position of an n-gram in its text
    SELECT
      item_words.group_id,
      item_words.doc_id,
      ARRAY_TO_STRING(item_words.words[starts.position:starts.position + $n - 1], ' ') AS ngram
    FROM (
      -- one row per group and item
      SELECT
        group_id,
        doc_id,
        REGEXP_EXTRACT_ALL(LOWER(CAST(text AS TEXT)), '[\p{L}\p{N}]+') AS words
      FROM items
    ) AS item_words
    CROSS JOIN UNNEST(GENERATE_SERIES(1, ARRAY_LENGTH(item_words.words) - $n + 1)) AS starts(position)
  ) AS item_ngrams ON item_ngrams.group_id = counted_ngrams.group_id AND item_ngrams.ngram = counted_ngrams.ngram
  GROUP BY counted_ngrams.list_id, counted_ngrams.ngram, item_ngrams.doc_id
) AS shared_ngrams
GROUP BY shared_ngrams.list_id, shared_ngrams.doc_id
