-- interleaved: one row: rules for the clicks of interleaved lists; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  SUM(CASE WHEN NOT team IN ('A', 'B') THEN 1 ELSE 0 END) AS other_team, -- team is neither A nor B
  COUNT(*) - COUNT(clicks) AS null_clicks, -- clicks is NULL. Give 0 if nothing was clicked
  SUM(CASE WHEN clicks < 0 THEN 1 ELSE 0 END) AS negative_clicks -- clicks is negative
FROM interleaved
