-- class_scores: one row: rules for scores of classes; each column counts the rows that break the rule in its comment.
-- The words before a colon in a comment are a requirement of metrics (-- Requires:), and the rule applies to these metrics only.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(unit_id) AS null_unit_id, -- unit_id is NULL. For intervals it has to be known which rows belong together
  COUNT(*) - COUNT(score) AS null_score, -- score is NULL. Give it a value, or leave the row out
  SUM(CASE WHEN ISNAN(score) THEN 1 ELSE 0 END) AS nan_score, -- score is NaN, which would be ranked first. Give it a value, or leave the row out
  SUM(CASE WHEN score < 0 OR score > 1 THEN 1 ELSE 0 END) AS improbable_score -- probabilities: score is not a probability, from 0 to 1
FROM class_scores
