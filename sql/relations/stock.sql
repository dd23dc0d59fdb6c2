-- stock: one row per group, item of the catalogue and provider.
SELECT
  group_id,
  doc_id,
  provider,
  COUNT(*) AS times
FROM supply
GROUP BY group_id, doc_id, provider
