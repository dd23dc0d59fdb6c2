-- items: one row: rules for catalog items; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(provider) AS null_provider -- provider is NULL. Give such items one of their own
FROM items
