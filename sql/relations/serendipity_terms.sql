-- serendipity_terms: one row per retrieved document, with its relevance (0 or 1), its popularity rank, NULL if nobody has it, and the catalog size.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Grain: list_id, rank
SELECT
  r.list_id,
  r.rank,
  CASE WHEN j.relevance >= $rel THEN 1 ELSE 0 END AS is_relevant,
  p.popularity_rank,
  n.catalog_size
FROM ranked_documents AS r
JOIN ranked_lists AS l ON l.list_id = r.list_id
LEFT JOIN judgments AS j ON j.list_id = r.list_id AND j.doc_id = r.doc_id
LEFT JOIN item_popularity AS p ON p.group_id = l.group_id AND p.doc_id = r.doc_id
LEFT JOIN (
  SELECT
    group_id,
    COUNT(*) AS catalog_size
  FROM catalog_items
  GROUP BY group_id
) AS n ON n.group_id = l.group_id
