-- sqlrank 0.1.0 for Spark: nDCG@10, AP, one row
-- reads: shop.eval.run (run), shop.eval.qrels (qrels)
-- plan: rank_method=array; alternative: rank_method=sort, if a list does not fit an array, or thousands of its documents are judged
-- made by: sqlrank sql nDCG@10 AP --run shop.eval.run --qrels shop.eval.qrels --dialect spark
WITH qrels AS (
  -- One row per query and judged document. (shop.eval.qrels)
  SELECT query_id, doc_id, CAST(relevance AS DOUBLE) AS relevance FROM shop.eval.qrels
), run AS (
  -- One row per query and retrieved document. (shop.eval.run)
  SELECT query_id, doc_id, CAST(score AS DOUBLE) AS score FROM shop.eval.run
), evaluated_queries AS (
  -- One row per query with judgments, even if nothing was retrieved. (evaluated_queries/judged.sql)
  SELECT query_id FROM qrels GROUP BY query_id
), document_arrays AS (
  -- One row per query of the run.
  SELECT
    query_id,
    -- sorted from the highest score
    SORT_ARRAY(COLLECT_LIST(STRUCT(score AS score, doc_id AS doc_id)), FALSE).doc_id AS documents
  FROM run
  GROUP BY query_id
), judged_documents AS (
  -- One row per query and judged document, retrieved or not. (judged_documents/by_array.sql)
  -- RAND makes Spark compute this once: deterministic CTEs are repeated for each reader.
  SELECT /*+ REPARTITION(query_id) */ ELEMENT_AT(ARRAY(query_id), 1) AS query_id, relevance, rank
  FROM (
    SELECT
      evaluated_queries.query_id, qrels.relevance,
      -- NULL if not retrieved
      NULLIF(ARRAY_POSITION(document_arrays.documents, qrels.doc_id), 0) AS rank
    FROM evaluated_queries
    LEFT JOIN document_arrays ON document_arrays.query_id = evaluated_queries.query_id
    INNER JOIN qrels ON qrels.query_id = evaluated_queries.query_id
  ) AS once
  WHERE RAND() >= 0
), ideal_ranking AS (
  -- One row per query and judged document of positive relevance. (ideal_ranking/judged.sql)
  SELECT
    query_id, relevance, rank,
    ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY relevance DESC) AS ideal_rank
  FROM judged_documents
  WHERE relevance > 0
), relevant_documents AS (
  -- One row per query and relevant document. (relevant_documents/at_hits.sql)
  SELECT
    query_id, rank,
    ROW_NUMBER() OVER (
      PARTITION BY query_id ORDER BY CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank
    ) AS cumulative_hits  -- relevant documents at this rank or above
  FROM judged_documents
  WHERE relevance >= 1
), discounted_gains_metrics AS (
  -- One row per query with a judged document of positive relevance.
  SELECT
    query_id,
    -- nDCG: discounted gain of the documents at ranks 1 to 10 over that of the ideal ranking.
    SUM(CASE WHEN rank <= 10 THEN relevance * (LN(2) / LN(rank + 1)) ELSE 0 END) / NULLIF(
      SUM(CASE WHEN ideal_rank <= 10 THEN relevance * (LN(2) / LN(ideal_rank + 1)) ELSE 0 END), 0
    ) AS ndcg_at_10
  FROM ideal_ranking
  GROUP BY query_id
), relevant_documents_metrics AS (
  -- One row per query with a relevant document.
  SELECT
    query_id,
    -- AP: average precision, the mean of the precision at each relevant document, 0 if not
    -- retrieved; MAP is its mean over queries.
    COALESCE(
      SUM(CASE WHEN rank IS NOT NULL THEN cumulative_hits / rank ELSE 0 END) / COUNT(*), 0
    ) AS ap
  FROM relevant_documents
  GROUP BY query_id
)
SELECT
  AVG(COALESCE(discounted_gains_metrics.ndcg_at_10, 0)) AS ndcg_at_10,
  AVG(COALESCE(relevant_documents_metrics.ap, 0)) AS ap
FROM evaluated_queries
LEFT JOIN discounted_gains_metrics ON discounted_gains_metrics.query_id = evaluated_queries.query_id
LEFT JOIN relevant_documents_metrics
  ON relevant_documents_metrics.query_id = evaluated_queries.query_id;
