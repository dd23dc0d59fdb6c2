-- What can be wrong with one row of a run. Each column counts the rows that break one rule.
SELECT
  COUNT(*) AS all_rows,
  SUM(CASE WHEN query_id IS NULL THEN 1 ELSE 0 END) AS null_query_id,
  SUM(CASE WHEN doc_id IS NULL THEN 1 ELSE 0 END) AS null_doc_id,
  SUM(CASE WHEN score IS NULL THEN 1 ELSE 0 END) AS null_score,
  SUM(CASE WHEN ISNAN(score) THEN 1 ELSE 0 END) AS nan_score,
  SUM(CASE WHEN rank IS NULL THEN 1 ELSE 0 END) AS null_rank
FROM run
