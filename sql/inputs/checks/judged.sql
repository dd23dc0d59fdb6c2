-- judged: one row: rules for items that a judge scored; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(unit_id) AS null_unit_id, -- unit_id is NULL. For intervals it has to be known which rows belong together
  SUM(CASE WHEN NOT label IN (0, 1) THEN 1 ELSE 0 END) AS nonbinary_label -- binary labels: label is neither 0 nor 1. Map a condition to it, such as rating >= 4
FROM judged
