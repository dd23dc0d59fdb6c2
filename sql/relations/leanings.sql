-- leanings: one row per list and category of what its user had before: the portion that it has there (held), and among the first
-- documents of the list (served), if any of these has a category.
SELECT
  i.list_id,
  i.portion AS held,
  COALESCE(t.portion, 0) AS served
FROM interests AS i
JOIN (
  SELECT
    list_id,
    COUNT(*) AS categories
  FROM topical
  GROUP BY list_id
) AS c ON c.list_id = i.list_id
LEFT JOIN topical AS t ON t.list_id = i.list_id AND t.category = i.category
