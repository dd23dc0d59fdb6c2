-- described: one row per item and category that it has: the part that this is of all its categories (portion), and its value where the
-- values of an item are a vector of length 1 (unit).
-- Never zero: size, categories.
SELECT
  group_id,
  doc_id,
  category,
  1 / categories AS portion,
  value / size AS unit
FROM (
  SELECT
    group_id,
    doc_id,
    category,
    value,
    COUNT(*) OVER (PARTITION BY group_id, doc_id) AS categories,
    SQRT(SUM(value * value) OVER (PARTITION BY group_id, doc_id)) AS size
  FROM features
  WHERE ABS(value) > 0
) AS measured
