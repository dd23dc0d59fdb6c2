-- text_lists: one row per text in the place of a list, and how it may be read as one. A message suggests the reading whose pattern, before the
-- colon of the comment, most texts match in lower case, with the words after it: if none matches, or for numbers, single, and without texts unread.
-- Grain: rows of texts
SELECT
  CAST(REGEXP_REPLACE(value, '''\s+''', ''', ''', 'g') AS TEXT[]) AS numpy_texts, -- \[(\s*'[^']*'\s*)+\]: put commas between its texts by
  CAST(REGEXP_REPLACE(value, '([^[\s])\s+', '\1, ', 'g') AS TEXT[]) AS numpy_numbers, -- \[\s*[\w.+-]+(\s+[\w.+-]+)*\]: put commas between its values by
  CAST(value AS TEXT[]) AS arrays, -- \[.*\]: cast a text such as '["a", "b"]':
  STRING_SPLIT(value, ', ') AS comma_blank, -- [^\[\],]+(, [^,]+)+: split what commas separate by
  STRING_SPLIT(value, ',') AS comma, -- [^\[\],]+(,[^,]+)+: split what commas separate by
  STRING_SPLIT(value, '|') AS bar, -- [^\[\]|]+(\|[^|]+)+: split what bars separate by
  STRING_SPLIT(value, ';') AS semicolon, -- [^\[\];]+(;[^;]+)+: split what semicolons separate by
  STRING_SPLIT(value, ' ') AS blank, -- [^\[\] ]+( [^ ]+)+: split what blanks separate by
  STRING_SPLIT(value, ', ') AS unread, -- (?!): split a text such as 'a, b' by
  [value] AS single -- (?!): make each value a list of one by
FROM texts
