-- queries: one row: rules for the queries table; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(cutoff) AS null_cutoff, -- cutoff is NULL. Give the query one, or leave it out
  SUM(CASE WHEN cutoff < 1 OR cutoff > 2147483647 OR cutoff <> FLOOR(cutoff) THEN 1 ELSE 0 END) AS wrong_cutoff -- cutoff is not an integer from 1
FROM queries
