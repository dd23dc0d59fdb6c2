-- classified: rules for predictions of classes; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(unit_id) AS null_unit_id, -- unit_id is NULL. For intervals it has to be known which rows belong together
  COUNT(*) - COUNT(predicted) AS null_predicted, -- predicted is NULL. Give the row a class of its own, such as 'none', or leave it out
  SUM(CASE WHEN weight < 0 THEN 1 ELSE 0 END) AS negative_weight, -- weight is negative
  SUM(CASE WHEN NOT (ISNAN(weight) OR ISINF(weight)) AND (weight > 1e90 OR (weight > 0 AND weight < 1e-90)) THEN 1 ELSE 0 END) AS extreme_weight -- weight is above 1e90, or below 1e-90 and not 0, whose products no double holds. Divide all weights by one number
FROM classified
