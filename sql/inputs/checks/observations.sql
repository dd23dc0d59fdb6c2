-- observations: one row: rules for observations of an experiment; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(unit_id) AS null_unit_id, -- unit_id is NULL. Leave the row out
  COUNT(*) - COUNT(variant) AS null_variant, -- variant is NULL. Leave the row out
  COUNT(*) - COUNT(value) AS null_value, -- value is NULL. Give 0 if nothing happened
  COUNT(*) - COUNT(denominator) AS null_denominator, -- denominator is NULL. Give 0 if nothing happened
  SUM(CASE WHEN ISNAN(value) OR ISINF(value) THEN 1 ELSE 0 END) AS nan_value, -- value is NaN or infinite. Leave the row out
  SUM(CASE WHEN ISNAN(denominator) OR ISINF(denominator) THEN 1 ELSE 0 END) AS nan_denominator, -- denominator is NaN or infinite. Leave the row out
  SUM(CASE WHEN ISNAN(covariate) OR ISINF(covariate) THEN 1 ELSE 0 END) AS nan_covariate, -- covariate is NaN or infinite. Leave the row out
  SUM(CASE WHEN NOT (ISNAN(value) OR ISINF(value)) AND ABS(value) > 1e60 THEN 1 ELSE 0 END) AS extreme_value, -- value is beyond 1e60, whose squares no double holds. Divide it by a number
  SUM(CASE WHEN NOT (ISNAN(denominator) OR ISINF(denominator)) AND ABS(denominator) > 1e60 THEN 1 ELSE 0 END) AS extreme_denominator, -- denominator is beyond 1e60, whose squares no double holds. Divide it by a number
  SUM(CASE WHEN NOT (ISNAN(covariate) OR ISINF(covariate)) AND ABS(covariate) > 1e60 THEN 1 ELSE 0 END) AS extreme_covariate, -- covariate is beyond 1e60, whose squares no double holds. Divide it by a number
  SUM(CASE WHEN denominator < 0 THEN 1 ELSE 0 END) AS negative_denominator -- denominator is negative. Leave the row out, or count from 0
FROM observations
