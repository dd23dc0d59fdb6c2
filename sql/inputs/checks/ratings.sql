-- ratings: one row: rules for ratings of judges; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(unit_id) AS null_unit_id, -- unit_id is NULL. For intervals it has to be known which items belong together
  SUM(CASE WHEN NOT ISNAN(rating) AND ISINF(rating) THEN 1 ELSE 0 END) AS infinite_rating -- rating is infinite, at no distance from others. Give it a value, or leave the row out
FROM ratings
