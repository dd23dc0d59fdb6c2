-- item_ngrams: one row per group, item and position of a word n-gram in its text.
-- $n: integer from 1, default 3: number of words of an n-gram.
-- Engines: duckdb, postgres, clickhouse, datafusion, bigquery, snowflake, spark, databricks, trino and sqlite, which have lists.
-- Grain: many per group_id, doc_id
SELECT
  item_words.group_id, item_words.doc_id,
  ngram(item_words.words, first_words.position) AS ngram -- consecutive words, as in query_ngrams
FROM (
  -- one row per group and item
  SELECT
    group_id, doc_id,
    words(text) AS words
  FROM items
) AS item_words
CROSS JOIN UNNEST(item_words.words) WITH ORDINALITY AS first_words(word, position)
WHERE
  -- a slice fails if $n is NaN, which no number of words reaches
  first_words.position + $n - 1 <= ARRAY_LENGTH(item_words.words)
