-- item_categories: one row per item and category of the item.
-- The share of a category is 1 over the number of categories of the item; the normalized values of an item are a vector of length 1.
-- Nonzero: vector_norm, num_categories.
-- Grain: group_id, doc_id, category
SELECT
  group_id,
  doc_id,
  category,
  1 / num_categories AS category_share,
  value / vector_norm AS normalized_value
FROM (
  SELECT
    group_id,
    doc_id,
    category,
    value,
    COUNT(*) OVER (PARTITION BY group_id, doc_id) AS num_categories,
    SQRT(SUM(value * value) OVER (PARTITION BY group_id, doc_id)) AS vector_norm
  FROM features
  WHERE ABS(value) > 0
) AS measured
