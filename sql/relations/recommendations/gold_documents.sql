-- gold_documents: one row per list and relevant document: if the catalog, or corpus, has it.
-- Rows have no doc_id.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Grain: rows of judgments
SELECT
  judgments.list_id,
  CASE WHEN catalog_items.doc_id IS NULL THEN 0 ELSE 1 END AS is_in_catalog -- 1 or 0
FROM ranked_lists
JOIN judgments ON judgments.list_id = ranked_lists.list_id
LEFT JOIN catalog_items
  ON catalog_items.group_id = ranked_lists.group_id AND catalog_items.doc_id = judgments.doc_id
WHERE judgments.relevance >= $rel
