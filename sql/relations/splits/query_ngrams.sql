-- query_ngrams: one row per list and position of a word n-gram in the text of its query.
-- Words are the runs of letters and digits of the text in lower case.
-- $n: integer from 1, default 3: number of words of an n-gram.
-- Engines: duckdb, postgres, clickhouse, datafusion, bigquery, snowflake, spark, databricks, trino and sqlite, which have lists.
-- Grain: many per list_id
SELECT
  query_words.list_id,
  ngram(query_words.words, first_words.position) AS ngram -- consecutive words, with blanks between them
FROM (
  -- one row per list
  SELECT
    ranked_lists.list_id,
    words(queries.text) AS words
  FROM ranked_lists
  LEFT JOIN queries ON queries.query_id = ranked_lists.query_id
) AS query_words
CROSS JOIN UNNEST(query_words.words) WITH ORDINALITY AS first_words(word, position)
WHERE
  -- a slice fails if $n is NaN, which no number of words reaches
  first_words.position + $n - 1 <= ARRAY_LENGTH(query_words.words)
