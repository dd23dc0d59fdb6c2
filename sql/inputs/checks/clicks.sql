-- clicks: one row: rules for documents that were shown; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(clicked) AS null_clicked, -- clicked is NULL. Give 0 if the document was not clicked
  SUM(CASE WHEN NOT clicked IN (0, 1) THEN 1 ELSE 0 END) AS nonbinary_clicked, -- clicked is neither 0 nor 1. Name each session, in which users saw a list once, as a query
  SUM(CASE WHEN rank < 1 OR rank <> FLOOR(rank) THEN 1 ELSE 0 END) AS low_rank, -- rank is not a whole number from 1. Ranks are counted from 1
  SUM(CASE WHEN propensity < 1e-90 OR propensity > 1 THEN 1 ELSE 0 END) AS improbable_propensity -- propensity is not a probability above 0 (at least 1e-90)
FROM clicks
