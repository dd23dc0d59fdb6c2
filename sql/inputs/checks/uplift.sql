-- uplift: one row: rules for predicted uplifts; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(unit_id) AS null_unit_id, -- unit_id is NULL. For intervals it has to be known which rows belong together
  COUNT(*) - COUNT(label) AS null_label, -- label is NULL. Give 0 if nothing happened
  SUM(CASE WHEN ISNAN(score) THEN 1 ELSE 0 END) AS nan_score, -- score is NaN, which would be ranked first. Give it a value, or leave the row out
  SUM(CASE WHEN NOT treatment IN (0, 1) THEN 1 ELSE 0 END) AS other_treatment, -- treatment is neither 1 (treated) nor 0. Map a condition to it, such as arm = 'B'
  SUM(CASE WHEN NOT label IN (0, 1) THEN 1 ELSE 0 END) AS nonbinary_label -- binary labels: label is neither 0 nor 1. Map a condition to it, such as revenue > 0
FROM uplift
