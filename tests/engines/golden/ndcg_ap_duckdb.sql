-- sqlrank 0.1.0 for DuckDB: nDCG@10, AP, one row
-- reads: shop.eval.run (run), shop.eval.qrels (qrels)
-- plan: rank_method=sort; alternative: rank_method=count, if lists are long and have at most three
--   judged documents each
-- qrels: each query_id and doc_id is taken to have one row, since the table cannot be looked at.
--   Map qrels.subtopic to a column to merge rows that differ in it
-- keys: compared columns are taken to have one type (query_id, doc_id), since the tables cannot be
--   looked at. Map integers to text where they meet texts, such as qrels.doc_id to CAST(doc_id AS
--   TEXT)
-- made by: sqlrank sql nDCG@10 AP --run shop.eval.run --qrels shop.eval.qrels
WITH qrels AS NOT MATERIALIZED (
  -- One row per query and judged document. (shop.eval.qrels)
  SELECT query_id, doc_id, CAST(relevance AS DOUBLE) AS relevance FROM shop.eval.qrels
), run AS NOT MATERIALIZED (
  -- One row per query and retrieved document. (shop.eval.run)
  SELECT query_id, doc_id, CAST(score AS DOUBLE) AS score FROM shop.eval.run
), ranked_lists AS (
  -- One row per query to evaluate, even if empty. (ranked_lists/integer_key.sql)
  SELECT
    query_id,
    -- number of the list in this statement
    CAST(ROW_NUMBER() OVER (ORDER BY query_id) AS INT) AS list_id
  FROM qrels
  GROUP BY query_id
), ranked_documents AS (
  -- One row per query and retrieved document, with its rank. (ranked_documents/in_order.sql)
  SELECT
    ranked_lists.list_id, run.doc_id,
    ROW_NUMBER() OVER (
      PARTITION BY ranked_lists.list_id ORDER BY run.score DESC, run.doc_id DESC
    ) AS rank  -- position in the list, from 1
  FROM run
  INNER JOIN ranked_lists ON ranked_lists.query_id = run.query_id
), judged_documents AS (
  -- One row per query and judged document, retrieved or not. (judged_documents/by_join.sql)
  SELECT
    ranked_lists.list_id,
    qrels.relevance,  -- grade; negative if selected for judging, but never judged
    ranked_documents.rank  -- NULL if not retrieved
  FROM qrels
  INNER JOIN ranked_lists ON ranked_lists.query_id = qrels.query_id
  LEFT JOIN ranked_documents
    ON ranked_documents.list_id = ranked_lists.list_id AND ranked_documents.doc_id = qrels.doc_id
), ideal_ranking AS (
  -- One row per query and judged document of positive relevance. (ideal_ranking/judged.sql)
  SELECT
    list_id, relevance, rank,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY relevance DESC) AS ideal_rank
  FROM judged_documents
  WHERE relevance > 0
), relevant_documents AS (
  -- One row per query and relevant document. (relevant_documents/at_hits.sql)
  SELECT
    list_id, rank,
    ROW_NUMBER() OVER (
      PARTITION BY list_id ORDER BY CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank
    ) AS cumulative_hits  -- relevant documents at this rank or above
  FROM judged_documents
  WHERE relevance >= 1
), discounted_gains_metrics AS (
  -- One row per query with a judged document of positive relevance.
  SELECT
    list_id,
    -- nDCG: discounted gain of the documents at ranks 1 to 10 over that of the ideal ranking.
    SUM(CASE WHEN rank <= 10 THEN relevance * (LN(2) / LN(rank + 1)) ELSE 0 END) / NULLIF(
      SUM(CASE WHEN ideal_rank <= 10 THEN relevance * (LN(2) / LN(ideal_rank + 1)) ELSE 0 END), 0
    ) AS ndcg_at_10
  FROM ideal_ranking
  GROUP BY list_id
), relevant_documents_metrics AS (
  -- One row per query with a relevant document.
  SELECT
    list_id,
    -- AP: average precision, the mean of the precision at each relevant document, 0 if not
    -- retrieved; MAP is its mean over queries.
    SUM(CASE WHEN rank IS NOT NULL THEN cumulative_hits / rank ELSE 0 END) / COUNT(*) AS ap
  FROM relevant_documents
  GROUP BY list_id
)
SELECT
  AVG(COALESCE(discounted_gains_metrics.ndcg_at_10, 0)) AS ndcg_at_10,
  AVG(COALESCE(relevant_documents_metrics.ap, 0)) AS ap
FROM ranked_lists
LEFT JOIN discounted_gains_metrics ON discounted_gains_metrics.list_id = ranked_lists.list_id
LEFT JOIN relevant_documents_metrics ON relevant_documents_metrics.list_id = ranked_lists.list_id;
