-- text_lists: one row per text in the place of a list, and how it may be read as one.
-- A message suggests the reading whose pattern, before the colon of the comment, most texts match in lower case, with the words
-- after it: if none matches, or for numbers, single, and without texts unread.
-- Grain: rows of texts
SELECT
  CAST(REGEXP_REPLACE(value, 'np\.\w+\(([^()]*)\)', '\1', 'g') AS TEXT[]) AS numpy_scalars, -- \[(\s*np\.\w+\([^()]*\),?)+\]: leave the types of its values out with
  CAST(REGEXP_EXTRACT(value, '\[.*\]') AS TEXT[]) AS array_calls, -- (array|list)\(\[.*\].*\): leave the name of its type out with
  CAST('[' || TRIM(value, '{}') || ']' AS TEXT[]) AS braces, -- \{[^{}:]*\}: write its braces as brackets by
  CAST('[' || TRIM(value, '(), ') || ']' AS TEXT[]) AS tuples, -- \(.*\): write its parentheses as brackets by
  CAST(REGEXP_REPLACE(value, '''\s+''', ''', ''', 'g') AS TEXT[]) AS numpy_texts, -- \[(\s*'[^']*'\s*){2,}\]: put commas between its texts by
  CAST(REGEXP_REPLACE(value, '([^[\s])\s+', '\1, ', 'g') AS TEXT[]) AS numpy_numbers, -- \[\s*[\d.e+-]+(\s+[\d.e+-]+)*\s*\]: put commas between its values by
  CAST(REGEXP_REPLACE(value, '([^[\s])\s+', '\1, ', 'g') AS TEXT[]) AS words, -- \[\s*[\w.+-]+(\s+[\w.+-]+)*\]: put commas between its values by
  CAST(value AS TEXT[]) AS arrays, -- \[.*\]: cast a text such as '["a", "b"]':
  STRING_SPLIT(value, ', ') AS comma_blank, -- [^\[\],\s]([^,]*[^,\s])?(, [^,\s]([^,]*[^,\s])?)+: split what commas separate by
  STRING_SPLIT(value, ',') AS comma, -- [^\[\],\s]([^,]*[^,\s])?(,[^,\s]([^,]*[^,\s])?)+: split what commas separate by
  STRING_SPLIT_REGEX(TRIM(value), ' *, *') AS comma_blanks, -- [^\[\],]+(,[^,]+)+: split what commas and blanks separate by
  STRING_SPLIT(value, '|') AS bar, -- [^\[\]|\s]([^|]*[^|\s])?(\|[^|\s]([^|]*[^|\s])?)+: split what bars separate by
  STRING_SPLIT_REGEX(TRIM(value), ' *[|] *') AS bar_blanks, -- [^\[\]|]+(\|[^|]+)+: split what bars and blanks separate by
  STRING_SPLIT(value, ';') AS semicolon, -- [^\[\];\s]([^;]*[^;\s])?(;[^;\s]([^;]*[^;\s])?)+: split what semicolons separate by
  STRING_SPLIT_REGEX(TRIM(value), ' *; *') AS semicolon_blanks, -- [^\[\];]+(;[^;]+)+: split what semicolons and blanks separate by
  STRING_SPLIT(value, ' ') AS blank, -- [^\[\] ]+( [^ ]+)+: split what blanks separate by
  STRING_SPLIT(value, ', ') AS unread, -- (?!): split a text such as 'a, b' by
  [value] AS single -- (?!): make each value a list of one by
FROM texts
