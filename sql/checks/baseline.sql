-- What can be wrong with one row of the baseline. Each column counts the rows that break one rule, which its comment says;
-- what stands before a colon is what a metric requires (-- Requires:), and the rule is for those metrics only.
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(query_id) AS null_query_id, -- query_id is NULL
  COUNT(*) - COUNT(doc_id) AS null_doc_id, -- doc_id is NULL
  COUNT(*) - COUNT(score) AS null_score, -- score is NULL; give it a value, or leave the row out
  SUM(CASE WHEN ISNAN(score) THEN 1 ELSE 0 END) AS nan_score, -- score is NaN, which would be ranked first; give it a value, or leave the row out
  COUNT(*) - COUNT(rank) AS null_rank -- rank is NULL
FROM baseline
