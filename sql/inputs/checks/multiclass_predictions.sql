-- multiclass_predictions: one row: rules for lists of scores; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  SUM(CASE WHEN ARRAY_LENGTH(scores) = 0 THEN 1 ELSE 0 END) AS empty_scores, -- scores is an empty list. Give each class its score, or leave the row out
  SUM(CASE WHEN ARRAY_LENGTH(scores) <> ARRAY_LENGTH(classes) THEN 1 ELSE 0 END) AS other_classes -- scores and classes have different lengths. Give each class one score
FROM multiclass_predictions
