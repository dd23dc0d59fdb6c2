-- id_forms: what makes ids equal that differ as texts: an expression, and in the comment of what they differ, for a message. The last one
-- is all of them.
-- Grain: rows of ids
SELECT
  LOWER(TRIM(value)) AS letters, -- case or surrounding blanks
  LTRIM(value, '0') AS zeros, -- leading zeros
  CASE WHEN value LIKE '%.0' THEN SUBSTRING(value, 1, LENGTH(value) - 2) ELSE value END AS decimals, -- a final .0
  LTRIM(LOWER(TRIM(CASE WHEN value LIKE '%.0' THEN SUBSTRING(value, 1, LENGTH(value) - 2) ELSE value END)), '0') AS all_forms -- case, blanks, leading zeros or a final .0
FROM ids
