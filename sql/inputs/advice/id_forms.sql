-- id_forms: one row per id: forms that make ids equal that differ as texts.
-- The comment of each says in what they differ, for a message. The weakest come first: case tells ids of some kinds apart, so that it is kept if same_case, all forms that keep it, makes as many ids equal as it does.
-- A dialect that has no NFC_NORMALIZE, whatever its name, leaves it out, and one that reads no files REGEXP_REPLACE.
-- Grain: rows of ids
SELECT
  TRIM(value) AS blanks, -- surrounding blanks
  LTRIM(value, '0') AS zeros, -- leading zeros
  integer_text AS decimals, -- a final .0
  NFC_NORMALIZE(value) AS composition, -- Unicode normalization (NFC or NFD)
  TRIM(REGEXP_REPLACE(REGEXP_REPLACE(value, '\p{C}', '', 'g'), '\p{Z}', ' ', 'g')) AS characters, -- invisible characters or kinds of blanks
  LTRIM(TRIM(integer_text), '0') AS blanks_and_zeros, -- blanks, leading zeros or a final .0
  LTRIM(TRIM(NFC_NORMALIZE(integer_text)), '0') AS zeros_and_composition, -- blanks, leading zeros, a final .0 or Unicode normalization
  LTRIM(TRIM(visible), '0') AS same_case, -- blanks, leading zeros, a final .0, Unicode normalization, invisible characters or kinds of blanks
  LOWER(value) AS letters, -- case
  LOWER(TRIM(value)) AS letters_and_blanks, -- case or surrounding blanks
  LTRIM(LOWER(TRIM(integer_text)), '0') AS letters_and_zeros, -- case, blanks, leading zeros or a final .0
  LTRIM(LOWER(TRIM(NFC_NORMALIZE(integer_text))), '0') AS letters_and_composition, -- case, blanks, leading zeros, a final .0 or Unicode normalization
  LTRIM(LOWER(TRIM(visible)), '0') AS all_forms -- case, blanks, leading zeros, a final .0, Unicode normalization, invisible characters or kinds of blanks
FROM (
  -- one row per id
  SELECT
    value, integer_text,
    NFC_NORMALIZE(REGEXP_REPLACE(REGEXP_REPLACE(integer_text, '\p{C}', '', 'g'), '\p{Z}', ' ', 'g')) AS visible
  FROM (
    -- one row per id
    SELECT
      value,
      CASE WHEN value LIKE '%.0' THEN SUBSTRING(value, 1, LENGTH(value) - 2) ELSE value END AS integer_text
    FROM ids
  ) AS integer_texts
) AS visible_texts
