-- sqlrank 0.1.0 for BigQuery: nDCG@10, AP, RR, one row per model
-- reads: shop.eval.recommended (run), shop.eval.bought (qrels), shop.eval.users (queries)
-- settings: weight=revenue, aggregate=wmean, where run.day = '2026-01-01' AND qrels.day =
--   '2026-01-01'
-- plan: rank_method=sort; alternative: rank_method=count, if lists are long and have at most three
--   judged documents each
-- qrels: each query_id and doc_id is taken to have one row, since the table cannot be looked at.
--   Map qrels.subtopic to a column to merge rows that differ in it
-- model is read from the run, and all judgments count in each model. If qrels has it, too, write
--   qrels.model
-- made by: sqlrank sql nDCG@10 AP RR --policy aggregate=wmean --run shop.eval.recommended --qrels shop.eval.bought --queries shop.eval.users --column query_id=user_id --column doc_id=item_id --column score=predicted --column relevance=stars --column weight=revenue --by model --where "run.day = '2026-01-01' AND qrels.day = '2026-01-01'" --dialect bigquery
WITH qrels AS (
  -- One row per query and judged document. (shop.eval.bought)
  SELECT `user_id` AS query_id, `item_id` AS doc_id, CAST(`stars` AS FLOAT64) AS relevance
  FROM shop.eval.bought
  WHERE `day` = '2026-01-01'
), run AS (
  -- One row per model, query and retrieved document. (shop.eval.recommended)
  SELECT `model`, `user_id` AS query_id, `item_id` AS doc_id, CAST(`predicted` AS FLOAT64) AS score
  FROM shop.eval.recommended
  WHERE `day` = '2026-01-01'
), queries AS (
  -- One row per query, with its attributes. (shop.eval.users)
  SELECT `user_id` AS query_id, CAST(`revenue` AS FLOAT64) AS weight FROM shop.eval.users
), query_ids AS (
  -- One row per query.
  SELECT query_id FROM qrels GROUP BY query_id
), systems AS (
  -- One row per model.
  SELECT `model` FROM run GROUP BY `model`
), selected_queries AS (
  -- One row per model and query to evaluate that the queries table has.
  -- (selected_queries/in_queries_table.sql)
  SELECT systems.`model`, query_ids.query_id
  FROM query_ids
  CROSS JOIN systems
  INNER JOIN queries ON queries.query_id = query_ids.query_id
), ranked_documents AS (
  -- One row per model, query and retrieved document, with its rank. (ranked_documents/in_order.sql)
  SELECT
    selected_queries.`model`, selected_queries.query_id, run.doc_id,
    ROW_NUMBER() OVER (
      PARTITION BY selected_queries.`model`, selected_queries.query_id
      ORDER BY run.score DESC, run.doc_id DESC
    ) AS rank  -- position in the list, from 1
  FROM run
  INNER JOIN selected_queries
    ON selected_queries.`model` IS NOT DISTINCT FROM run.`model`
    AND selected_queries.query_id = run.query_id
), judged_documents AS (
  -- One row per model, query and judged document, retrieved or not. (judged_documents/by_join.sql)
  SELECT
    selected_queries.`model`, selected_queries.query_id,
    qrels.relevance,  -- grade; negative if selected for judging, but never judged
    ranked_documents.rank  -- NULL if not retrieved
  FROM qrels
  INNER JOIN selected_queries ON selected_queries.query_id = qrels.query_id
  LEFT JOIN ranked_documents
    ON ranked_documents.`model` IS NOT DISTINCT FROM selected_queries.`model`
    AND ranked_documents.query_id = selected_queries.query_id
    AND ranked_documents.doc_id = qrels.doc_id
), ideal_ranking AS (
  -- One row per model, query and judged document of positive relevance. (ideal_ranking/judged.sql)
  SELECT
    `model`, query_id, relevance, rank,
    ROW_NUMBER() OVER (PARTITION BY `model`, query_id ORDER BY relevance DESC) AS ideal_rank
  FROM judged_documents
  WHERE relevance > 0
), relevant_documents AS (
  -- One row per model, query and relevant document. (relevant_documents/at_hits.sql)
  SELECT
    `model`, query_id, rank,
    1 / rank AS reciprocal_rank,
    ROW_NUMBER() OVER (
      PARTITION BY `model`, query_id ORDER BY CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank
    ) AS cumulative_hits  -- relevant documents at this rank or above
  FROM judged_documents
  WHERE relevance >= 1
), discounted_gains_metrics AS (
  -- One row per model and query with a judged document of positive relevance.
  SELECT
    `model`, query_id,
    -- nDCG: discounted gain of the documents at ranks 1 to 10 over that of the ideal ranking.
    SUM(CASE WHEN rank <= 10 THEN relevance * (LN(2) / LN(rank + 1)) ELSE 0 END) / NULLIF(
      SUM(CASE WHEN ideal_rank <= 10 THEN relevance * (LN(2) / LN(ideal_rank + 1)) ELSE 0 END), 0
    ) AS ndcg_at_10
  FROM ideal_ranking
  GROUP BY `model`, query_id
), relevant_documents_metrics AS (
  -- One row per model and query with a relevant document.
  SELECT
    `model`, query_id,
    -- AP: average precision, the mean of the precision at each relevant document, 0 if not
    -- retrieved; MAP is its mean over queries.
    SUM(CASE WHEN rank IS NOT NULL THEN cumulative_hits / rank ELSE 0 END) / COUNT(*) AS ap,
    -- RR: reciprocal rank of the first relevant document, whose mean over queries is MRR.
    MAX(CASE WHEN rank IS NOT NULL THEN reciprocal_rank ELSE 0 END) AS rr
  FROM relevant_documents
  GROUP BY `model`, query_id
), query_metrics AS (
  -- One row per model and query to evaluate.
  SELECT
    selected_queries.`model`, queries.weight,
    COALESCE(discounted_gains_metrics.ndcg_at_10, 0) AS ndcg_at_10,
    COALESCE(relevant_documents_metrics.ap, 0) AS ap,
    COALESCE(relevant_documents_metrics.rr, 0) AS rr
  FROM selected_queries
  LEFT JOIN discounted_gains_metrics
    ON discounted_gains_metrics.`model` IS NOT DISTINCT FROM selected_queries.`model`
    AND discounted_gains_metrics.query_id = selected_queries.query_id
  LEFT JOIN relevant_documents_metrics
    ON relevant_documents_metrics.`model` IS NOT DISTINCT FROM selected_queries.`model`
    AND relevant_documents_metrics.query_id = selected_queries.query_id
  LEFT JOIN queries ON queries.query_id = selected_queries.query_id
)
SELECT
  `model`,
  SUM(weight * ndcg_at_10) / NULLIF(SUM(weight), 0) AS ndcg_at_10,
  SUM(weight * ap) / NULLIF(SUM(weight), 0) AS ap,
  SUM(weight * rr) / NULLIF(SUM(weight), 0) AS rr
FROM query_metrics
GROUP BY `model`
ORDER BY `model`;
