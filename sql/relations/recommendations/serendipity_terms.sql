-- serendipity_terms: one row per list and rank of a retrieved document: if it is relevant, its popularity rank, and catalog size.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Grain: list_id, rank
SELECT
  ranked_documents.list_id, ranked_documents.rank,
  CASE WHEN judgments.relevance >= $rel THEN 1 ELSE 0 END AS is_relevant, -- 1 or 0; 0 if not judged
  item_popularity.popularity_rank, -- 1 for most users; NULL if nobody had the item
  catalog_item_counts.catalog_size -- items of the catalog
FROM ranked_documents
JOIN ranked_lists ON ranked_lists.list_id = ranked_documents.list_id
LEFT JOIN judgments
  ON judgments.list_id = ranked_documents.list_id AND judgments.doc_id = ranked_documents.doc_id
LEFT JOIN item_popularity
  ON item_popularity.group_id = ranked_lists.group_id AND item_popularity.doc_id = ranked_documents.doc_id
LEFT JOIN (
  -- one row per group with a catalog
  SELECT
    group_id,
    COUNT(*) AS catalog_size
  FROM catalog_items
  GROUP BY group_id
) AS catalog_item_counts ON catalog_item_counts.group_id = ranked_lists.group_id
