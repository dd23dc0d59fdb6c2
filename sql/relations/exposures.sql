-- exposures: one row per group and document shown: whether the catalogue has it, and how many items that has.
SELECT
  d.group_id,
  d.shows,
  CASE WHEN c.doc_id IS NULL THEN 0 ELSE 1 END AS is_listed,
  n.catalogue_docs
FROM displayed AS d
LEFT JOIN catalogue AS c ON c.group_id = d.group_id AND c.doc_id = d.doc_id
LEFT JOIN (
  SELECT
    group_id,
    COUNT(*) AS catalogue_docs
  FROM catalogue
  GROUP BY group_id
) AS n ON n.group_id = d.group_id
