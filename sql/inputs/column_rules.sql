-- column_rules: rules for a column of an input that follow from its type in roles.toml; each column counts the rows that break the rule.
-- null_value is of columns that are not nullable, null_measured of those that a metric measures, nonbinary_flag of those that it measures
-- as a flag, nan_value of numbers, nan_key of nullable keys: some tools write NaN for what is NULL.
-- Grain: one row
SELECT
  COUNT(*) - COUNT(value) AS null_value, -- value is NULL. Give the row one, or leave it out
  COUNT(*) - COUNT(value) AS null_measured, -- value is NULL. Leave such rows out with nulls='drop', or evaluate Missing(value) too, which counts them
  SUM(CASE WHEN NOT value IN (0, 1) THEN 1 ELSE 0 END) AS nonbinary_flag, -- value is neither 0 nor 1, and a flag takes no others
  SUM(CASE WHEN ISNAN(value) OR ISINF(value) THEN 1 ELSE 0 END) AS nan_value, -- value is NaN or infinite. Leave such rows out
  SUM(CASE WHEN ISNAN(value) THEN 1 ELSE 0 END) AS nan_key -- value is NaN
FROM input
