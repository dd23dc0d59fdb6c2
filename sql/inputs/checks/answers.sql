-- answers: one row: rules for rows of lists; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  SUM(CASE WHEN ARRAY_LENGTH(scores) <> ARRAY_LENGTH(retrieved) THEN 1 ELSE 0 END) AS other_scores, -- scores and retrieved have different lengths. Give each document one score
  SUM(CASE WHEN ARRAY_LENGTH(grades) <> ARRAY_LENGTH(relevant) THEN 1 ELSE 0 END) AS other_grades -- grades and relevant have different lengths. Give each document one grade
FROM answers
