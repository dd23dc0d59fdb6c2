-- What can be wrong with one row of training data. Each column counts the rows that break one rule.
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(query_id) AS null_query_id,
  COUNT(*) - COUNT(label) AS null_label,
  SUM(CASE WHEN NOT label IN (0, 1) THEN 1 ELSE 0 END) AS nonbinary_label,
  COUNT(*) - COUNT(features) AS null_features,
  SUM(CASE WHEN LEN([1 FOR item IN features IF COALESCE(ISFINITE(item), FALSE) = FALSE]) > 0 THEN 1 ELSE 0 END) AS infinite_features
FROM training
