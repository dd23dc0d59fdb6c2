-- exposed_items: one row per group and catalog item in any of its lists: number of these lists, catalog size, and rank from the least frequent.
-- Rows have no doc_id.
-- Items that are never recommended have the ranks below, and no rows.
-- Grain: group_id, ascending_rank
SELECT
  group_id,
  num_recommendations, -- lists that have the item among their first k
  catalog_size, -- items of the catalog
  catalog_size - COUNT(*) OVER (PARTITION BY group_id) + ROW_NUMBER() OVER (
    PARTITION BY group_id ORDER BY num_recommendations
  ) AS ascending_rank -- among all items of the catalog, 1 is the least
FROM recommended_items
WHERE is_in_catalog = 1
