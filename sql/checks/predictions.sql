-- What can be wrong with one row of the predictions. Each column counts the rows that break one rule.
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(query_id) AS null_query_id,
  COUNT(*) - COUNT(label) AS null_label,
  SUM(CASE WHEN ISNAN(label) OR ISINF(label) THEN 1 ELSE 0 END) AS nan_label,
  COUNT(*) - COUNT(score) AS null_score,
  SUM(CASE WHEN ISNAN(score) THEN 1 ELSE 0 END) AS nan_score,
  COUNT(*) - COUNT(weight) AS null_weight,
  SUM(CASE WHEN weight < 0 THEN 1 ELSE 0 END) AS negative_weight,
  SUM(CASE WHEN ISNAN(weight) OR ISINF(weight) THEN 1 ELSE 0 END) AS nan_weight,
  COUNT(*) - COUNT(rank) AS null_rank,
  SUM(CASE WHEN NOT label IN (0, 1) THEN 1 ELSE 0 END) AS nonbinary_label,
  SUM(CASE WHEN label < 0 THEN 1 ELSE 0 END) AS negative_label,
  SUM(CASE WHEN score < 0 OR score > 1 THEN 1 ELSE 0 END) AS improbable_score,
  SUM(CASE WHEN score <= 0 THEN 1 ELSE 0 END) AS nonpositive_score,
  SUM(CASE WHEN ISINF(score) THEN 1 ELSE 0 END) AS infinite_score
FROM predictions
