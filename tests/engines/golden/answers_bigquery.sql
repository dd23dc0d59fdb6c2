-- sqlrank 0.1.0 for BigQuery: nDCG@10, R@5, one row per intent
-- reads: shop.eval.questions (answers)
-- settings: where day = '2026-01-01'
-- plan: rank_method=sort; alternative: rank_method=count, if lists are long and have at most three
--   judged documents each
-- answers: scores is taken to be missing, since the table cannot be looked at. Map answers.scores
--   to a column to read it
-- made by: sqlrank sql nDCG@10 R@5 --input answers=shop.eval.questions --column retrieved=retrieved_ids --column relevant=gold_ids --column grades=gold_grades --by intent --where "day = '2026-01-01'" --dialect bigquery
WITH answers AS (
  -- One row per intent and query, with the lists of its retrieved and of its relevant documents.
  -- (shop.eval.questions)
  SELECT
    `intent`, query_id,
    `retrieved_ids` AS retrieved, `gold_ids` AS relevant, `gold_grades` AS grades
  FROM shop.eval.questions
  WHERE `day` = '2026-01-01'
), qrels AS (
  -- One row per intent, query and judged document.
  SELECT
    answers.`intent`, answers.query_id, doc_id,
    CASE
      WHEN answers.grades IS NULL THEN 1
      ELSE CAST(answers.grades[SAFE_OFFSET(list_position)] AS FLOAT64)
    END AS relevance
  FROM answers
  CROSS JOIN UNNEST(answers.relevant) AS doc_id WITH OFFSET AS list_position
), deduplicated_qrels AS (
  -- One row per intent, query and judged document, of judgments that may repeat it.
  -- (qrels/deduplicated.sql)
  SELECT
    `intent`, query_id, doc_id,
    MAX(relevance) AS relevance  -- the highest of its rows
  FROM qrels
  GROUP BY `intent`, query_id, doc_id
), run AS (
  -- One row per intent, query and retrieved document.
  SELECT answers.`intent`, answers.query_id, doc_id, list_position + 1 AS rank
  FROM answers
  CROSS JOIN UNNEST(answers.retrieved) AS doc_id WITH OFFSET AS list_position
), deduplicated_run AS (
  -- One row per intent, query and retrieved document, of a run that may repeat it.
  -- (run/deduplicated.sql)
  SELECT
    `intent`, query_id, doc_id,
    MIN(rank) AS rank  -- the lowest of its rows
  FROM run
  GROUP BY `intent`, query_id, doc_id
), ranked_documents AS (
  -- One row per intent, query and retrieved document, with its rank.
  -- (ranked_documents/in_order.sql)
  SELECT
    answers.`intent`, answers.query_id, deduplicated_run.doc_id,
    ROW_NUMBER() OVER (
      PARTITION BY answers.`intent`, answers.query_id
      ORDER BY deduplicated_run.rank, deduplicated_run.doc_id DESC
    ) AS rank  -- position in the list, from 1
  FROM deduplicated_run
  INNER JOIN answers
    ON answers.`intent` IS NOT DISTINCT FROM deduplicated_run.`intent`
    AND answers.query_id = deduplicated_run.query_id
), judged_documents AS (
  -- One row per intent, query and judged document, retrieved or not. (judged_documents/by_join.sql)
  SELECT
    answers.`intent`, answers.query_id,
    deduplicated_qrels.relevance,  -- grade; negative if selected for judging, but never judged
    ranked_documents.rank  -- NULL if not retrieved
  FROM deduplicated_qrels
  INNER JOIN answers
    ON answers.`intent` IS NOT DISTINCT FROM deduplicated_qrels.`intent`
    AND answers.query_id = deduplicated_qrels.query_id
  LEFT JOIN ranked_documents
    ON ranked_documents.`intent` IS NOT DISTINCT FROM answers.`intent`
    AND ranked_documents.query_id = answers.query_id
    AND ranked_documents.doc_id = deduplicated_qrels.doc_id
), ideal_ranking AS (
  -- One row per intent, query and judged document of positive relevance. (ideal_ranking/judged.sql)
  SELECT
    `intent`, query_id, relevance, rank,
    ROW_NUMBER() OVER (PARTITION BY `intent`, query_id ORDER BY relevance DESC) AS ideal_rank
  FROM judged_documents
  WHERE relevance > 0
), discounted_gains_metrics AS (
  -- One row per intent and query with a judged document of positive relevance.
  SELECT
    `intent`, query_id,
    -- nDCG: discounted gain of the documents at ranks 1 to 10 over that of the ideal ranking.
    SUM(CASE WHEN rank <= 10 THEN relevance * (LN(2) / LN(rank + 1)) ELSE 0 END) / NULLIF(
      SUM(CASE WHEN ideal_rank <= 10 THEN relevance * (LN(2) / LN(ideal_rank + 1)) ELSE 0 END), 0
    ) AS ndcg_at_10
  FROM ideal_ranking
  GROUP BY `intent`, query_id
), relevant_documents_metrics AS (
  -- One row per intent and query with a relevant document.
  SELECT
    `intent`, query_id,
    -- R: recall, the share of the relevant documents that are among the first 5.
    SUM(CASE WHEN rank <= 5 THEN 1.0 ELSE 0 END) / COUNT(*) AS r_at_5
  FROM judged_documents
  WHERE relevance >= 1
  GROUP BY `intent`, query_id
)
SELECT
  answers.`intent`,
  AVG(COALESCE(discounted_gains_metrics.ndcg_at_10, 0)) AS ndcg_at_10,
  AVG(COALESCE(relevant_documents_metrics.r_at_5, 0)) AS r_at_5
FROM answers
LEFT JOIN discounted_gains_metrics
  ON discounted_gains_metrics.`intent` IS NOT DISTINCT FROM answers.`intent`
  AND discounted_gains_metrics.query_id = answers.query_id
LEFT JOIN relevant_documents_metrics
  ON relevant_documents_metrics.`intent` IS NOT DISTINCT FROM answers.`intent`
  AND relevant_documents_metrics.query_id = answers.query_id
GROUP BY answers.`intent`
ORDER BY answers.`intent`;
