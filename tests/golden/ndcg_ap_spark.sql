-- sqlrank 0.1.0 for Spark: nDCG@10, AP, one row
-- reads: shop.eval.run (run), shop.eval.qrels (qrels)
-- plan: rank_method=array; alternative: rank_method=sort, if a list does not fit an array, or thousands of its documents are judged
-- made by: sqlrank sql nDCG@10 AP --run shop.eval.run --qrels shop.eval.qrels --dialect spark
WITH qrels AS (
  -- One row per query and judged document. (shop.eval.qrels)
  SELECT query_id, doc_id, CAST(relevance AS DOUBLE) AS relevance
  FROM shop.eval.qrels
), run AS (
  -- One row per query and retrieved document. (shop.eval.run)
  SELECT query_id, doc_id, CAST(score AS DOUBLE) AS score
  FROM shop.eval.run
), evaluated_queries AS (
  -- One row per query that has judgments, retrieved for or not.
  -- (relations/evaluated_queries/judged.sql)
  SELECT query_id
  FROM qrels
  GROUP BY query_id
), judged_documents AS (
  -- One row per query and judged document, retrieved or not.
  -- (relations/judged_documents/by_array.sql)
  -- RAND makes Spark compute this once: deterministic CTEs are repeated for each reader.
  SELECT /*+ REPARTITION(query_id) */ ELEMENT_AT(ARRAY(query_id), 1) AS query_id, relevance, rank, doc_count, rank_probability
  FROM (
    SELECT
      query_id, relevance,
      CASE WHEN NOT document_rank IS NULL THEN document_rank END AS rank,  -- NULL if not retrieved
      CAST(1 AS DOUBLE) AS doc_count,  -- documents that the row counts as
      CAST(1 AS DOUBLE) AS rank_probability  -- probability that the document has this rank
    FROM (
      -- One row per query and judged document.
      SELECT
        ranked_lists.query_id, qrels.relevance,
        -- position in the list, at any depth
        NULLIF(ARRAY_POSITION(document_arrays.documents, qrels.doc_id), 0) AS document_rank
      FROM evaluated_queries AS ranked_lists
      LEFT JOIN (
        -- One row per group and query of the run.
        SELECT
          query_id,
          -- sorted from the highest score
          SORT_ARRAY(COLLECT_LIST(STRUCT(score AS score, doc_id AS doc_id)), FALSE).doc_id AS documents
        FROM run
        GROUP BY query_id
      ) AS document_arrays
        ON document_arrays.query_id = ranked_lists.query_id
      JOIN qrels ON qrels.query_id = ranked_lists.query_id
    ) AS positions
  ) AS once
  WHERE RAND() >= 0
), documents_with_gain AS (
  -- One row per query and judged document of positive relevance, retrieved or not: only these can
  -- have a gain. (relations/documents_with_gain.sql)
  SELECT query_id, relevance, rank, doc_count, rank_probability
  FROM judged_documents
  WHERE relevance > 0
), ideal_ranking AS (
  -- One row per query and judged document of positive relevance, retrieved or not, also ranked by
  -- gain. (relations/ideal_ranking/judged.sql)
  SELECT
    query_id, relevance, rank, doc_count, rank_probability,
    -- position by gain, 1 is the greatest
    ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY doc_count * relevance DESC) AS ideal_rank
  FROM documents_with_gain
), discounted_gains AS (
  -- One row per query and judged document of positive relevance: its gains, discounted by its
  -- ranks. (relations/discounted_gains.sql)
  SELECT
    query_id, rank, ideal_rank,
    -- NULL if not retrieved
    rank_probability * relevance * (LN(2) / LN(rank + 1)) AS discounted_gain,
    -- 0 if the gain is negative
    CASE WHEN relevance > 0 THEN doc_count * relevance * (LN(2) / LN(ideal_rank + 1)) ELSE 0 END AS ideal_discounted_gain
  FROM ideal_ranking
), relevant_documents AS (
  -- One row per query and relevant document, retrieved or not.
  -- (relations/relevant_documents/at_hits.sql)
  SELECT
    query_id, rank, doc_count,
    -- relevant documents down to this rank
    ROW_NUMBER() OVER (
      PARTITION BY query_id
      ORDER BY CASE WHEN doc_count = 0 THEN 2 WHEN rank IS NULL THEN 1 ELSE 0 END, rank
    ) AS cumulative_hits
  FROM judged_documents
  WHERE relevance >= 1
), discounted_gains_metrics AS (
  -- One row per query.
  SELECT
    query_id,
    -- nDCG: discounted gain of the first k documents over that of the ideal ranking.
    SUM(CASE WHEN rank <= 10 THEN discounted_gain ELSE 0 END)
    / NULLIF(SUM(CASE WHEN ideal_rank <= 10 THEN ideal_discounted_gain ELSE 0 END), 0) AS ndcg_at_10
  FROM discounted_gains
  GROUP BY query_id
), relevant_documents_metrics AS (
  -- One row per query.
  SELECT
    query_id,
    -- AP: average precision, the mean over queries of which is MAP.
    COALESCE(SUM(CASE WHEN NOT rank IS NULL THEN cumulative_hits / rank ELSE 0 END) / NULLIF(SUM(doc_count), 0), 0) AS ap
  FROM relevant_documents
  GROUP BY query_id
), query_metrics AS (
  -- One row per query to evaluate.
  SELECT
    COALESCE(discounted_gains_metrics.ndcg_at_10, 0) AS ndcg_at_10,
    COALESCE(relevant_documents_metrics.ap, 0) AS ap
  FROM evaluated_queries AS l
  LEFT JOIN discounted_gains_metrics ON discounted_gains_metrics.query_id = l.query_id
  LEFT JOIN relevant_documents_metrics ON relevant_documents_metrics.query_id = l.query_id
)
SELECT AVG(ndcg_at_10) AS ndcg_at_10, AVG(ap) AS ap
FROM query_metrics;
