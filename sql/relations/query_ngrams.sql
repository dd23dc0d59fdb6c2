-- query_ngrams: one row per list and distinct word n-gram of the text of its query.
-- Words are the runs of letters and digits of the text in lower case.
-- $n: integer from 1, default 3: number of words of an n-gram.
-- Engines: duckdb
-- Grain: list_id, ngram
SELECT
  query_words.list_id,
  ARRAY_TO_STRING(query_words.words[starts.position:starts.position + $n - 1], ' ') AS ngram -- consecutive words, with blanks between them
FROM (
  -- one row per list
  SELECT
    ranked_lists.list_id,
    REGEXP_EXTRACT_ALL(LOWER(CAST(queries.text AS TEXT)), '[\p{L}\p{N}]+') AS words
  FROM ranked_lists
  LEFT JOIN queries ON queries.query_id = ranked_lists.query_id
) AS query_words
CROSS JOIN UNNEST(GENERATE_SERIES(1, ARRAY_LENGTH(query_words.words) - $n + 1)) AS starts(position)
GROUP BY query_words.list_id, ARRAY_TO_STRING(query_words.words[starts.position:starts.position + $n - 1], ' ')
