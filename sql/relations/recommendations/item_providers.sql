-- item_providers: one row per group, item of the catalog and provider.
-- Scope: slice (an item is counted in every slice)
-- Grain: group_id, doc_id, provider
SELECT
  group_id, doc_id,
  provider -- who offers the item
FROM items
GROUP BY group_id, doc_id, provider
