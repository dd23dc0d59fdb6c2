-- sqlrank 0.1.0 for Snowflake: nDCG@10, AUC, one row per MODEL
-- reads: shop.eval.predictions (predictions)
-- plan: rank_method=sort, score_order=distinct; alternative: rank_method=count, if lists are long and have at most three judged documents each; score_order=buckets, if a single group has more distinct scores than one worker can sort
-- made by: sqlrank sql nDCG@10 AUC --predictions shop.eval.predictions --by model --dialect snowflake
WITH predictions AS (
  -- One row per prediction. (shop.eval.predictions)
  SELECT
    "MODEL",
    CAST(score AS DOUBLE) + 0 AS score,  -- + 0 makes -0.0 a 0.0
    CAST(label AS DOUBLE) + 0 AS label,
    query_id, doc_id
  FROM shop.eval.predictions
), qrels AS (
  -- One row per MODEL, query and judged document.
  SELECT "MODEL", query_id, doc_id, label AS relevance
  FROM predictions
  WHERE label IS NOT NULL
), evaluated_queries AS (
  -- One row per MODEL and query with judgments, even if nothing was retrieved.
  -- (evaluated_queries/judged.sql)
  SELECT "MODEL", query_id FROM qrels GROUP BY "MODEL", query_id
), ranked_documents AS (
  -- One row per MODEL, query and retrieved document, ranked by score, ties by doc_id, greatest
  -- first. (ranked_documents/doc_desc.sql)
  SELECT
    evaluated_queries."MODEL", evaluated_queries.query_id, predictions.doc_id,
    ROW_NUMBER() OVER (
      PARTITION BY evaluated_queries."MODEL", evaluated_queries.query_id
      ORDER BY predictions.score DESC, predictions.doc_id DESC
    ) AS rank  -- position in the list, from 1
  FROM predictions
  INNER JOIN evaluated_queries
    ON evaluated_queries."MODEL" IS NOT DISTINCT FROM predictions."MODEL"
    AND evaluated_queries.query_id = predictions.query_id
), ideal_ranking AS (
  -- One row per MODEL, query and judged document of positive relevance. (ideal_ranking/judged.sql)
  SELECT
    qrels."MODEL", qrels.query_id, qrels.relevance,
    ranked_documents.rank,  -- NULL if not retrieved
    ROW_NUMBER() OVER (
      PARTITION BY qrels."MODEL", qrels.query_id ORDER BY qrels.relevance DESC
    ) AS ideal_rank
  FROM qrels
  LEFT JOIN ranked_documents
    ON ranked_documents."MODEL" IS NOT DISTINCT FROM qrels."MODEL"
    AND ranked_documents.query_id = qrels.query_id
    AND ranked_documents.doc_id = qrels.doc_id
  WHERE qrels.relevance > 0
), score_class_weights AS (
  -- One row per MODEL and distinct score. (score_class_weights.sql)
  SELECT
    "MODEL", score,
    -- weight of the positives of this score
    SUM(CASE WHEN label = 1 THEN CAST(1.0 AS DOUBLE) ELSE 0 END) AS positives,
    -- weight of the negatives of this score
    SUM(CASE WHEN label = 1 THEN 0 ELSE CAST(1.0 AS DOUBLE) END) AS negatives
  FROM predictions
  GROUP BY "MODEL", score
), score_thresholds AS (
  -- One row per MODEL and distinct score, with sums over higher and lower scores.
  -- (score_thresholds/by_window.sql)
  SELECT
    "MODEL", positives, negatives,
    COALESCE(
      SUM(negatives) OVER (
        PARTITION BY "MODEL" ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ),
      0
    ) AS negatives_above,
    -- sum over lower scores
    SUM(negatives) OVER (PARTITION BY "MODEL")
    - COALESCE(
      SUM(negatives) OVER (
        PARTITION BY "MODEL" ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ),
      0
    ) - negatives AS negatives_below
  FROM score_class_weights
), discounted_gains_metrics AS (
  -- One row per MODEL and query with a judged document of positive relevance.
  SELECT
    "MODEL", query_id,
    -- nDCG: discounted gain of the documents at ranks 1 to 10 over that of the ideal ranking.
    SUM(CASE
      WHEN rank <= 10 THEN relevance * (LN(CAST(2 AS DOUBLE)) / LN(CAST(rank + 1 AS DOUBLE)))
      ELSE 0
    END)
    / NULLIF(
      SUM(CASE
        WHEN ideal_rank <= 10
        THEN relevance * (LN(CAST(2 AS DOUBLE)) / LN(CAST(ideal_rank + 1 AS DOUBLE)))
        ELSE 0
      END),
      0
    ) AS ndcg_at_10
  FROM ideal_ranking
  GROUP BY "MODEL", query_id
), positive_thresholds_metrics AS (
  -- One row per MODEL with a positive.
  SELECT
    "MODEL",
    -- AUC: area under the ROC curve, the probability that a positive is scored above a negative; a
    -- tie counts half.
    SUM(positives * (negatives_below + 0.5 * negatives)) / NULLIF(
      SUM(positives * (negatives_below + 0.5 * negatives))
      + SUM(positives * (negatives_above + 0.5 * negatives)),
      0
    ) AS auc
  FROM score_thresholds
  WHERE positives > 0
  GROUP BY "MODEL"
), predictions_metrics AS (
  -- One row per MODEL.
  SELECT "MODEL" FROM predictions GROUP BY "MODEL"
), group_metrics AS (
  -- One row per MODEL.
  SELECT
    evaluated_queries."MODEL",
    AVG(COALESCE(discounted_gains_metrics.ndcg_at_10, 0)) AS ndcg_at_10
  FROM evaluated_queries
  LEFT JOIN discounted_gains_metrics
    ON discounted_gains_metrics."MODEL" IS NOT DISTINCT FROM evaluated_queries."MODEL"
    AND discounted_gains_metrics.query_id = evaluated_queries.query_id
  GROUP BY evaluated_queries."MODEL"
)
SELECT predictions_metrics."MODEL", group_metrics.ndcg_at_10, positive_thresholds_metrics.auc
FROM predictions_metrics
LEFT JOIN positive_thresholds_metrics
  ON positive_thresholds_metrics."MODEL" IS NOT DISTINCT FROM predictions_metrics."MODEL"
LEFT JOIN group_metrics ON group_metrics."MODEL" IS NOT DISTINCT FROM predictions_metrics."MODEL"
ORDER BY predictions_metrics."MODEL" NULLS FIRST;
