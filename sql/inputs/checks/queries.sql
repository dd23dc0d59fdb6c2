-- queries: rules for the queries table; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  SUM(CASE WHEN weight < 0 THEN 1 ELSE 0 END) AS negative_weight, -- weight is negative
  SUM(CASE WHEN NOT (ISNAN(weight) OR ISINF(weight)) AND (weight > 1e90 OR (weight > 0 AND weight < 1e-90)) THEN 1 ELSE 0 END) AS extreme_weight, -- weight is above 1e90, or below 1e-90 and not 0, whose products no double holds. Divide all weights by one number
  COUNT(*) - COUNT(cutoff) AS null_cutoff, -- cutoff is NULL. Give the query one, or leave it out
  SUM(CASE WHEN cutoff < 1 OR cutoff > 2147483647 OR cutoff <> FLOOR(cutoff) THEN 1 ELSE 0 END) AS wrong_cutoff -- cutoff is not an integer from 1
FROM queries
