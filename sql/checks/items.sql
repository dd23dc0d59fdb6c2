-- What can be wrong with one row of the catalogue. Each column counts the rows that break one rule, which its comment says;
-- what stands before a colon is what a metric requires (-- Requires:), and the rule is for those metrics only.
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(doc_id) AS null_doc_id, -- doc_id is NULL
  COUNT(*) - COUNT(provider) AS null_provider -- provider is NULL; give such items one of their own
FROM items
