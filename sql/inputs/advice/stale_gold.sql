-- stale_gold: one row: the relevant documents of queries that are in no row of other documents, all of them, and the mean over queries of their share.
-- Grain: one row
-- Nonzero: relevant.
SELECT
  SUM(missing) AS stale,
  SUM(relevant) AS relevant,
  AVG(1.0 * missing / relevant) AS mean_share
FROM (
  -- one row per query
  SELECT
    relevant_pairs.query_id,
    SUM(CASE WHEN distinct_documents.doc_id IS NULL THEN 1 ELSE 0 END) AS missing,
    COUNT(*) AS relevant
  FROM (
    -- one row per query and relevant document
    SELECT query_id, doc_id FROM qrels WHERE relevance > 0 GROUP BY query_id, doc_id
  ) AS relevant_pairs
  LEFT JOIN (
    -- one row per document
    SELECT doc_id FROM documents GROUP BY doc_id
  ) AS distinct_documents ON distinct_documents.doc_id = relevant_pairs.doc_id
  GROUP BY relevant_pairs.query_id
) AS gold_counts
