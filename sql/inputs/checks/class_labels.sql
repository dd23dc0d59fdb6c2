-- class_labels: one row: rules for observed and predicted classes; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(unit_id) AS null_unit_id, -- unit_id is NULL. For intervals it has to be known which rows belong together
  SUM(CASE WHEN NOT (label = 0 OR label = 1) THEN 1 ELSE 0 END) AS other_label, -- label is neither 0 nor 1
  SUM(CASE WHEN NOT (predicted = 0 OR predicted = 1) THEN 1 ELSE 0 END) AS other_predicted, -- predicted is neither 0 nor 1. Compare scores with a threshold first
  SUM(CASE WHEN class_id IS NULL AND (label = 1 OR predicted = 1) THEN 1 ELSE 0 END) AS unnamed_class -- class_id is NULL, and label or predicted is 1; NULL is for a prediction without classes
FROM class_labels
