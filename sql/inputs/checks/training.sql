-- training: one row: rules for training examples; each column counts the rows that break the rule in its comment.
-- The words before a colon in a comment are a requirement (-- Requires:).
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(label) AS null_label, -- label is NULL. Leave the row out
  SUM(CASE WHEN NOT label IN (0, 1) THEN 1 ELSE 0 END) AS nonbinary_label, -- binary labels: label is neither 0 nor 1. Map a condition to it, such as rating >= 4
  COUNT(*) - COUNT(features) AS null_features, -- features are NULL. Give numbers, or leave the row out
  SUM(CASE WHEN LEN([1 FOR item IN features IF COALESCE(ISFINITE(item), FALSE) = FALSE]) > 0 THEN 1 ELSE 0 END) AS infinite_features -- a feature is NULL, NaN or infinite. Give it a value, or leave the row out
FROM training
