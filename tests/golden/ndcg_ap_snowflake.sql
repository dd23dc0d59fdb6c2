-- sqlrank 0.1.0 for Snowflake: nDCG@10, AP, one row
-- reads: shop.eval.run (run), shop.eval.qrels (qrels)
-- plan: rank_method=sort; alternative: rank_method=count, for long lists with three judged documents or fewer
-- made by: sqlrank sql nDCG@10 AP --run shop.eval.run --qrels shop.eval.qrels --dialect snowflake
WITH qrels AS (
  -- One row per query and judged document. (shop.eval.qrels)
  SELECT query_id, doc_id, CAST(relevance AS DOUBLE) + 0 AS relevance
  FROM shop.eval.qrels
), run AS (
  -- One row per query and retrieved document. (shop.eval.run)
  SELECT query_id, doc_id, CAST(score AS DOUBLE) + 0 AS score
  FROM shop.eval.run
), evaluated_queries AS (
  -- One row per query that has judgments, retrieved for or not.
  -- (relations/evaluated_queries/judged.sql)
  SELECT query_id
  FROM qrels
  GROUP BY query_id
), judgments AS (
  -- One row per query and judged document, retrieved or not. (relations/judgments.sql)
  SELECT
    ranked_lists.query_id, qrels.doc_id,
    qrels.relevance  -- grade; negative if pooled but not judged
  FROM qrels
  JOIN evaluated_queries AS ranked_lists ON ranked_lists.query_id = qrels.query_id
), retrieved_documents AS (
  -- One row per query and retrieved document, judged or not.
  -- (relations/retrieved_documents/all.sql)
  SELECT ranked_lists.query_id, run.doc_id, run.score
  FROM run
  JOIN evaluated_queries AS ranked_lists ON ranked_lists.query_id = run.query_id
), ranked_documents AS (
  -- One row per query and retrieved document, ranked by score; ties by doc_id, greatest first, as
  -- in trec_eval. (relations/ranked_documents/doc_desc.sql)
  SELECT
    query_id, doc_id,
    rank  -- position in the list, from 1
  FROM (
    -- One row per query and retrieved document.
    SELECT
      query_id, doc_id,
      ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY score DESC, doc_id DESC) AS rank
    FROM retrieved_documents
  ) AS numbered_documents
), judged_documents AS (
  -- One row per query and judged document, retrieved or not.
  -- (relations/judged_documents/by_join.sql)
  SELECT
    judgments.query_id, judgments.relevance,
    ranked_documents.rank,  -- NULL if not retrieved
    CAST(1 AS DOUBLE) AS doc_count,  -- documents that the row counts as
    CAST(1 AS DOUBLE) AS rank_probability  -- probability that the document has this rank
  FROM judgments
  LEFT JOIN ranked_documents
    ON ranked_documents.query_id = judgments.query_id AND ranked_documents.doc_id = judgments.doc_id
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
    rank_probability * relevance * (LN(CAST(2 AS DOUBLE)) / LN(CAST(rank + 1 AS DOUBLE))) AS discounted_gain,
    -- 0 if the gain is negative
    CASE
      WHEN relevance > 0
      THEN doc_count * relevance * (LN(CAST(2 AS DOUBLE)) / LN(CAST(ideal_rank + 1 AS DOUBLE)))
      ELSE 0
    END AS ideal_discounted_gain
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
    COALESCE(
      SUM(CASE WHEN NOT rank IS NULL THEN CAST(cumulative_hits AS DOUBLE) / rank ELSE 0 END)
      / NULLIF(SUM(doc_count), 0),
      0
    ) AS ap
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
