-- stale_gold: the relevant documents of queries that are in no row of other documents, all of them, and the mean over queries of their share.
-- Grain: one row
-- Nonzero: relevant.
SELECT
  SUM(missing) AS stale,
  SUM(relevant) AS relevant,
  AVG(1.0 * missing / relevant) AS mean_share
FROM (
  SELECT
    gold.query_id,
    SUM(CASE WHEN listed.doc_id IS NULL THEN 1 ELSE 0 END) AS missing,
    COUNT(*) AS relevant
  FROM (SELECT query_id, doc_id FROM qrels WHERE relevance > 0 GROUP BY query_id, doc_id) AS gold
  LEFT JOIN (SELECT doc_id FROM documents GROUP BY doc_id) AS listed ON listed.doc_id = gold.doc_id
  GROUP BY gold.query_id
) AS gold_counts
