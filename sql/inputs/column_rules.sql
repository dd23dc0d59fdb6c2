-- column_rules: one row: rules for a column of an input that follow from its type in roles.toml; each column counts the rows that break the rule.
-- null_value is of columns that are not nullable, null_measured of those that a metric measures, nonbinary_flag of those that it measures
-- as a flag, nan_value of numbers, nan_key of nullable keys and unset_key of others: some tools write NaN for what is NULL.
-- negative_value and extreme_value are of weights.
-- Grain: one row
SELECT
  COUNT(*) - COUNT(value) AS null_value, -- value is NULL. Give the row one, or leave it out
  COUNT(*) - COUNT(value) AS null_measured, -- value is NULL. Leave such rows out with nulls='drop', or evaluate Missing(value) too, which counts them
  SUM(CASE WHEN NOT value IN (0, 1) THEN 1 ELSE 0 END) AS nonbinary_flag, -- value is neither 0 nor 1, and a flag takes no others. Map a condition to it
  SUM(CASE WHEN ISNAN(value) OR ISINF(value) THEN 1 ELSE 0 END) AS nan_value, -- value is NaN or infinite. Leave such rows out
  SUM(CASE WHEN ISNAN(value) THEN 1 ELSE 0 END) AS nan_key, -- value is NaN
  SUM(CASE WHEN ISNAN(value) THEN 1 ELSE 0 END) AS unset_key, -- value is NaN. Give the row one, or leave it out
  SUM(CASE WHEN value < 0 THEN 1 ELSE 0 END) AS negative_value, -- value is negative. Give one from 0, or leave the row out
  SUM(CASE WHEN NOT (ISNAN(value) OR ISINF(value)) AND (value > 1e90 OR (value > 0 AND value < 1e-90)) THEN 1 ELSE 0 END) AS extreme_value -- value is above 1e90, or below 1e-90 and not 0, whose products no double holds. Divide all weights by one number
FROM input
