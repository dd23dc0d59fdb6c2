-- id_forms: what makes ids equal that differ as texts: an expression, and in the comment of what they differ, for a message. The weakest come
-- first: case tells ids of some kinds apart, so that it is kept if same_case, all forms that keep it, makes as many ids equal as it does.
-- A dialect that has no NFC_NORMALIZE, whatever its name, leaves it out.
-- Grain: rows of ids
SELECT
  TRIM(value) AS blanks, -- surrounding blanks
  LTRIM(value, '0') AS zeros, -- leading zeros
  CASE WHEN value LIKE '%.0' THEN SUBSTRING(value, 1, LENGTH(value) - 2) ELSE value END AS decimals, -- a final .0
  NFC_NORMALIZE(value) AS composition, -- Unicode normalization (NFC or NFD)
  LTRIM(TRIM(CASE WHEN value LIKE '%.0' THEN SUBSTRING(value, 1, LENGTH(value) - 2) ELSE value END), '0') AS blanks_and_zeros, -- blanks, leading zeros or a final .0
  LTRIM(TRIM(NFC_NORMALIZE(CASE WHEN value LIKE '%.0' THEN SUBSTRING(value, 1, LENGTH(value) - 2) ELSE value END)), '0') AS same_case, -- blanks, leading zeros, a final .0 or Unicode normalization
  LOWER(value) AS letters, -- case
  LOWER(TRIM(value)) AS letters_and_blanks, -- case or surrounding blanks
  LTRIM(LOWER(TRIM(CASE WHEN value LIKE '%.0' THEN SUBSTRING(value, 1, LENGTH(value) - 2) ELSE value END)), '0') AS letters_and_zeros, -- case, blanks, leading zeros or a final .0
  LTRIM(LOWER(TRIM(NFC_NORMALIZE(CASE WHEN value LIKE '%.0' THEN SUBSTRING(value, 1, LENGTH(value) - 2) ELSE value END))), '0') AS all_forms -- case, blanks, leading zeros, a final .0 or Unicode normalization
FROM ids
