-- group_item_providers: one row per group, catalog item and provider.
-- Grain: group_id, doc_id, provider
SELECT
  group_id,
  doc_id,
  provider,
  COUNT(*) AS num_rows
FROM item_providers
GROUP BY group_id, doc_id, provider
