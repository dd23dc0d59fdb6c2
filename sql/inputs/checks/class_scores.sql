-- class_scores: rules for scores of classes; each column counts the rows that break the rule in its comment.
-- The words before a colon in a comment are a requirement of metrics (-- Requires:), and the rule applies to these metrics only.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(unit_id) AS null_unit_id, -- unit_id is NULL. For intervals it has to be known which rows belong together
  COUNT(*) - COUNT(score) AS null_score, -- score is NULL. Give it a value, or leave the row out
  SUM(CASE WHEN ISNAN(score) THEN 1 ELSE 0 END) AS nan_score, -- score is NaN, which would be ranked first. Give it a value, or leave the row out
  SUM(CASE WHEN weight < 0 THEN 1 ELSE 0 END) AS negative_weight, -- weight is negative
  SUM(CASE WHEN NOT (ISNAN(weight) OR ISINF(weight)) AND (weight > 1e90 OR (weight > 0 AND weight < 1e-90)) THEN 1 ELSE 0 END) AS extreme_weight, -- weight is above 1e90, or below 1e-90 and not 0, whose products no double holds. Divide all weights by one number
  SUM(CASE WHEN score < 0 OR score > 1 THEN 1 ELSE 0 END) AS improbable_score -- probabilities: score is not a probability, from 0 to 1
FROM class_scores
