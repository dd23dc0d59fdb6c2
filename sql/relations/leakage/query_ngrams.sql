-- query_ngrams: one row per list and distinct word n-gram of the text of its query.
-- Words are the runs of letters and digits of the text in lower case.
-- $n: integer from 1, default 3: number of words of an n-gram.
-- Engines: duckdb
-- Grain: list_id, ngram
SELECT
  query_words.list_id,
  ngram(query_words.words, starts.position) AS ngram -- consecutive words, with blanks between them
FROM (
  -- one row per list
  SELECT
    ranked_lists.list_id,
    words(queries.text) AS words
  FROM ranked_lists
  LEFT JOIN queries ON queries.query_id = ranked_lists.query_id
) AS query_words
CROSS JOIN UNNEST(GENERATE_SERIES(1, ARRAY_LENGTH(query_words.words) - $n + 1)) AS starts(position)
GROUP BY query_words.list_id, ngram(query_words.words, starts.position)
