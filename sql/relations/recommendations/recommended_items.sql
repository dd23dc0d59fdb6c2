-- recommended_items: one row per group and document in the first k of any of its lists: number of lists, if in the catalog, and catalog size.
-- Rows have no doc_id.
-- Grain: rows of recommendation_counts
SELECT
  recommendation_counts.group_id,
  recommendation_counts.num_recommendations, -- lists that have the document among their first k
  CASE WHEN group_catalog.doc_id IS NULL THEN 0 ELSE 1 END AS is_in_catalog, -- 1 or 0
  catalog_sizes.catalog_size -- items of the catalog
FROM recommendation_counts
LEFT JOIN group_catalog
  ON group_catalog.group_id = recommendation_counts.group_id AND group_catalog.doc_id = recommendation_counts.doc_id
LEFT JOIN (
  -- one row per group with a catalog
  SELECT
    group_id,
    COUNT(*) AS catalog_size
  FROM group_catalog
  GROUP BY group_id
) AS catalog_sizes ON catalog_sizes.group_id = recommendation_counts.group_id
