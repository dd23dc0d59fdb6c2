-- item_categories: one row per group, item and one of its categories: 1 over their number, and value of the category over the norm of all.
-- Values of 0 are no categories. The normalized values of an item are a vector of length 1.
-- Nonzero: vector_norm, num_categories.
-- Grain: group_id, doc_id, category
SELECT
  group_id, doc_id, category,
  1 / num_categories AS category_share, -- 1 over the number of categories of the item
  value / vector_norm AS normalized_value -- value over the norm of the item's values
FROM (
  -- one row per item and category
  SELECT
    features.*,
    COUNT(*) OVER (PARTITION BY group_id, doc_id) AS num_categories,
    SQRT(SUM(value * value) OVER (PARTITION BY group_id, doc_id)) AS vector_norm
  FROM features
  WHERE ABS(value) > 0
) AS item_norms
