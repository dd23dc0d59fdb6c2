-- delights: one row per retrieved document: whether it is relevant, its place by popularity (NULL if nobody had it), and the number of items.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
SELECT
  r.list_id,
  r.rank,
  CASE WHEN j.relevance >= $rel THEN 1 ELSE 0 END AS is_relevant,
  p.place,
  n.catalogue_docs
FROM ranked AS r
JOIN lists AS l ON l.list_id = r.list_id
LEFT JOIN judgments AS j ON j.list_id = r.list_id AND j.doc_id = r.doc_id
LEFT JOIN popularity AS p ON p.group_id = l.group_id AND p.doc_id = r.doc_id
LEFT JOIN (
  SELECT
    group_id,
    COUNT(*) AS catalogue_docs
  FROM listings
  GROUP BY group_id
) AS n ON n.group_id = l.group_id
