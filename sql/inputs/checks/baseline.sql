-- baseline: one row: rules for the rows of the baseline run; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(score) AS null_score, -- score is NULL, or a text that is no number. Give it a number, or leave the row out
  SUM(CASE WHEN ISNAN(score) THEN 1 ELSE 0 END) AS nan_score -- score is NaN, which would be ranked first. Give it a value, or leave the row out
FROM baseline
