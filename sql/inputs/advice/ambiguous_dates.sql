-- ambiguous_dates: one row: a text of which day and month can be exchanged, if the texts of all rows allow it; else NULL.
-- Grain: one row
SELECT
  CASE
    WHEN MIN(CASE WHEN REGEXP_MATCHES(value, '^\s*(0?[1-9]|1[0-2])[^0-9](0?[1-9]|1[0-2])[^0-9]\d{2}') THEN 1 ELSE 0 END) = 1
    THEN MIN(CASE WHEN REGEXP_MATCHES(value, '^\s*(0?[1-9]|1[0-2])[^0-9](0?[1-9]|1[0-2])[^0-9]\d{2}') AND REGEXP_EXTRACT(value, '^\s*0?(\d+)', 1) <> REGEXP_EXTRACT(value, '^\s*\d+[^0-9]0?(\d+)', 1) THEN value END)
  END AS value
FROM texts
