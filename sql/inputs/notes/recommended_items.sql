-- recommended_items: one row per group: its recommended items, and those that the catalog does not have.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS audit_recommended_items,
  SUM(1 - is_in_catalog) AS audit_unlisted_items -- recommended items are not in the catalog, and are left out
FROM recommended_items
GROUP BY group_id
