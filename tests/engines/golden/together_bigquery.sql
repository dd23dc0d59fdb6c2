-- sqlrank 0.1.0 for BigQuery: nDCG@10, AUC, one row per model
-- reads: shop.eval.predictions (predictions)
-- plan: rank_method=sort, score_order=distinct; alternative: rank_method=count, if lists are long
--   and have at most three judged documents each; score_order=buckets, if a single group has more
--   distinct scores than one worker can sort
-- predictions: weight is taken to be 1, since the table cannot be looked at. Map predictions.weight
--   to a column to read it
-- made by: sqlrank sql nDCG@10 AUC --predictions shop.eval.predictions --by model --dialect bigquery
WITH predictions AS (
  -- One row per prediction. (shop.eval.predictions)
  SELECT `model`, CAST(score AS FLOAT64) AS score, CAST(label AS FLOAT64) AS label, query_id, doc_id
  FROM shop.eval.predictions
), qrels AS (
  -- One row per model, query and judged document.
  SELECT `model`, query_id, doc_id, label AS relevance
  FROM predictions
  WHERE label IS NOT NULL
), evaluated_queries AS (
  -- One row per model and query with judgments, even if nothing was retrieved.
  -- (evaluated_queries/judged.sql)
  SELECT `model`, query_id FROM qrels GROUP BY `model`, query_id
), ranked_documents AS (
  -- One row per model, query and retrieved document, with its rank. (ranked_documents/in_order.sql)
  SELECT
    evaluated_queries.`model`, evaluated_queries.query_id, predictions.doc_id,
    ROW_NUMBER() OVER (
      PARTITION BY evaluated_queries.`model`, evaluated_queries.query_id
      ORDER BY predictions.score DESC, predictions.doc_id DESC
    ) AS rank  -- position in the list, from 1
  FROM predictions
  INNER JOIN evaluated_queries
    ON evaluated_queries.`model` IS NOT DISTINCT FROM predictions.`model`
    AND evaluated_queries.query_id = predictions.query_id
), ideal_ranking AS (
  -- One row per model, query and judged document of positive relevance. (ideal_ranking/judged.sql)
  SELECT
    qrels.`model`, qrels.query_id, qrels.relevance,
    ranked_documents.rank,  -- NULL if not retrieved
    ROW_NUMBER() OVER (
      PARTITION BY qrels.`model`, qrels.query_id ORDER BY qrels.relevance DESC
    ) AS ideal_rank
  FROM qrels
  LEFT JOIN ranked_documents
    ON ranked_documents.`model` IS NOT DISTINCT FROM qrels.`model`
    AND ranked_documents.query_id = qrels.query_id
    AND ranked_documents.doc_id = qrels.doc_id
  WHERE qrels.relevance > 0
), score_class_weights AS (
  -- One row per model and distinct score. (score_class_weights/by_score.sql)
  SELECT
    `model`, score,
    -- weight of the positives of this score
    SUM(CASE WHEN label = 1 THEN 1.0 ELSE 0 END) AS positives,
    -- weight of the negatives of this score
    SUM(CASE WHEN label = 1 THEN 0 ELSE 1.0 END) AS negatives
  FROM predictions
  GROUP BY `model`, score
), score_thresholds AS (
  -- One row per model and distinct score, with sums over higher and lower scores.
  -- (score_thresholds/by_window.sql)
  SELECT
    `model`, positives, negatives,
    COALESCE(SUM(negatives) OVER preceding_rows, 0) AS negatives_above,
    SUM(negatives) OVER (PARTITION BY `model`) - COALESCE(SUM(negatives) OVER preceding_rows, 0)
    - negatives AS negatives_below  -- sum over lower scores
  FROM score_class_weights
  WINDOW preceding_rows AS (
    PARTITION BY `model` ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
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
), positive_thresholds_metrics AS (
  -- One row per model with a positive.
  SELECT
    `model`,
    -- AUC: area under the ROC curve, the probability that a positive is scored above a negative; a
    -- tie counts half.
    SUM(positives * (negatives_below + 0.5 * negatives)) / NULLIF(
      SUM(positives * (negatives_below + 0.5 * negatives))
      + SUM(positives * (negatives_above + 0.5 * negatives)),
      0
    ) AS auc
  FROM score_thresholds
  WHERE positives > 0
  GROUP BY `model`
), predictions_metrics AS (
  -- One row per model.
  SELECT `model` FROM predictions GROUP BY `model`
), group_metrics AS (
  -- One row per model.
  SELECT
    evaluated_queries.`model`,
    AVG(COALESCE(discounted_gains_metrics.ndcg_at_10, 0)) AS ndcg_at_10
  FROM evaluated_queries
  LEFT JOIN discounted_gains_metrics
    ON discounted_gains_metrics.`model` IS NOT DISTINCT FROM evaluated_queries.`model`
    AND discounted_gains_metrics.query_id = evaluated_queries.query_id
  GROUP BY evaluated_queries.`model`
)
SELECT predictions_metrics.`model`, group_metrics.ndcg_at_10, positive_thresholds_metrics.auc
FROM predictions_metrics
LEFT JOIN positive_thresholds_metrics
  ON positive_thresholds_metrics.`model` IS NOT DISTINCT FROM predictions_metrics.`model`
LEFT JOIN group_metrics ON group_metrics.`model` IS NOT DISTINCT FROM predictions_metrics.`model`
ORDER BY predictions_metrics.`model`;
