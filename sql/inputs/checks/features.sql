-- features: one row: rules for the categories of items; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(category) AS null_category, -- category is NULL. Leave the row out
  COUNT(*) - COUNT(value) AS null_value, -- value is NULL. Give 0, or leave the row out
  SUM(CASE WHEN NOT (ISNAN(value) OR ISINF(value)) AND (ABS(value) > 1e90 OR (ABS(value) > 0 AND ABS(value) < 1e-90)) THEN 1 ELSE 0 END) AS extreme_value -- value is beyond 1e90, or within 1e-90 and not 0, whose squares no double holds. Divide all values by one number
FROM features
