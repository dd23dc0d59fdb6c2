-- classified: one row: rules for predictions of classes; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(unit_id) AS null_unit_id, -- unit_id is NULL. For intervals it has to be known which rows belong together
  COUNT(*) - COUNT(predicted) AS null_predicted -- predicted is NULL. Give the row a class of its own, such as 'none', or leave it out
FROM classified
