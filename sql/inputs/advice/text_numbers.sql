-- text_numbers: one row per text that is no number as it is written, and how it may be read as one.
-- A message suggests the reading whose pattern, before the colon of the comment, most texts match in lower case, with the words after it.
-- Grain: rows of texts
-- Nonzero: CAST(SUBSTRING(value, POSITION('/' IN value) + 1) AS DOUBLE).
SELECT
  CAST(value AS DOUBLE) AS infinite, -- [-+]?inf(inity)?: if its texts are numbers, such as inf, give
  CAST(REPLACE(value, ',', '') AS DOUBLE) AS thousands, -- [-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?: if its commas separate thousands, give
  CAST(REPLACE(value, ',', '.') AS DOUBLE) AS commas, -- [-+]?\d*,\d+(e[-+]?\d+)?: of decimal commas make points by
  CAST(REPLACE(REPLACE(value, '.', ''), ',', '.') AS DOUBLE) AS points, -- [-+]?\d{1,3}(\.\d{3})*,\d+: read points between thousands, and decimal commas, by
  CAST(RTRIM(value, '% ') AS DOUBLE) / 100 AS percentages, -- [-+]?\d*\.?\d+\s*%: divide percentages by 100 with
  CAST(REPLACE(RTRIM(value, '% '), ',', '.') AS DOUBLE) / 100 AS comma_percentages, -- [-+]?\d*,?\d+\s*%: divide percentages by 100 with
  CAST(TRIM(value, '[]()$€£ ') AS DOUBLE) AS enclosed, -- [\[($€£]+\s*[-+]?\d*\.?\d+(e[-+]?\d+)?\s*[\])$€£]*|[-+]?\d*\.?\d+\s*[$€£]: leave the characters around a number out with
  CAST(SUBSTRING(value, 1, POSITION('/' IN value) - 1) AS DOUBLE) / CAST(SUBSTRING(value, POSITION('/' IN value) + 1) AS DOUBLE) AS fractions, -- [-+]?\d*\.?\d+\s*/\s*\d*[1-9]\d*: divide fractions by
  CAST(REPLACE(REPLACE(value, ' ', ''), ',', '.') AS DOUBLE) AS spaced, -- [-+]?[1-9]\d{0,2}( \d{3})+([.,]\d+)?: leave blanks between thousands out with
  CAST(REPLACE(value, CHR(39), '') AS DOUBLE) AS apostrophes, -- [-+]?[1-9]\d{0,2}('\d{3})+(\.\d+)?: leave apostrophes between thousands out with
  CAST(TRIM(REPLACE(REPLACE(value, CHR(160), ' '), '−', '-')) AS DOUBLE) AS typeset, -- [-+−]?(\d+\.?\d*|\.\d+)(e[-+−]?\d+)?: write the minus and the blanks of a typeset text as plain ones with
  CASE LOWER(TRIM(value)) WHEN 'yes' THEN 1 WHEN 'no' THEN 0 END AS answers, -- yes|no: write words as numbers with
  CASE LOWER(TRIM(value)) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END AS truths, -- true|false: write words as numbers with
  CASE LOWER(TRIM(value)) WHEN 'y' THEN 1 WHEN 'n' THEN 0 END AS initials, -- y|n: write letters as numbers with
  CASE LOWER(TRIM(value)) WHEN 't' THEN 1 WHEN 'f' THEN 0 END AS letters, -- t|f: write letters as numbers with
  CASE LOWER(TRIM(value)) WHEN 'positive' THEN 1 WHEN 'negative' THEN 0 END AS signs -- positive|negative: write words as numbers with
FROM texts
