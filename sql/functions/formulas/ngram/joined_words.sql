-- ngram: $n consecutive words of a list from a position on, with blanks between them.
-- $n: integer from 1, default 3: number of words of an n-gram.
-- Engines: duckdb
CREATE MACRO ngram(words, position) AS ARRAY_TO_STRING(words[position:position + $n - 1], ' ')
