-- exposure_order: one row per group and recommended catalog item, with its rank among all catalog items, least recommended first.
-- Items that are never recommended have the ranks below, and no rows.
-- Grain: group_id, ascending_rank
SELECT
  group_id,
  num_recommendations,
  catalog_size,
  catalog_size - COUNT(*) OVER (PARTITION BY group_id) + ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY num_recommendations) AS ascending_rank
FROM recommended_items
WHERE is_in_catalog = 1
