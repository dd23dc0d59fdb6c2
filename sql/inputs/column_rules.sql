-- column_rules: rules for a column of an input that follow from its type in roles.toml; each column counts the rows that break the rule.
-- null_value is of columns that are not nullable, nan_value of numbers, nan_key of nullable keys: some tools write NaN for what is NULL.
-- Grain: one row
SELECT
  COUNT(*) - COUNT(value) AS null_value, -- value is NULL
  SUM(CASE WHEN ISNAN(value) OR ISINF(value) THEN 1 ELSE 0 END) AS nan_value, -- value is NaN or infinite
  SUM(CASE WHEN ISNAN(value) THEN 1 ELSE 0 END) AS nan_key -- value is NaN
FROM input
