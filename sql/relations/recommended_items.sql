-- recommended_items: one row per group and recommended document, with whether it is in the catalog, and the size of the catalog.
-- Grain: rows of recommendation_counts
SELECT
  d.group_id,
  d.num_recommendations,
  CASE WHEN c.doc_id IS NULL THEN 0 ELSE 1 END AS is_in_catalog,
  n.catalog_size
FROM recommendation_counts AS d
LEFT JOIN group_catalog AS c ON c.group_id = d.group_id AND c.doc_id = d.doc_id
LEFT JOIN (
  SELECT
    group_id,
    COUNT(*) AS catalog_size
  FROM group_catalog
  GROUP BY group_id
) AS n ON n.group_id = d.group_id
