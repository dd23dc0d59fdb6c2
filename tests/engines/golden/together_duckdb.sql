-- sqlrank 0.1.0 for DuckDB: nDCG@10, AUC, one row per model
-- reads: shop.eval.predictions (predictions)
-- plan: rank_method=sort, score_order=rank; alternative: rank_method=count, if lists are long and
--   have at most three judged documents each; score_order=buckets, if a single group has more rows
--   than one worker can sort
-- predictions: weight is taken to be 1, since the table cannot be looked at. Map predictions.weight
--   to a column to read it
-- made by: sqlrank sql nDCG@10 AUC --predictions shop.eval.predictions --by model
WITH predictions AS NOT MATERIALIZED (
  -- One row per prediction. (shop.eval.predictions)
  SELECT "model", CAST(score AS DOUBLE) AS score, CAST(label AS DOUBLE) AS label, query_id, doc_id
  FROM shop.eval.predictions
), qrels AS (
  -- One row per model, query and judged document.
  SELECT "model", query_id, doc_id, label AS relevance
  FROM predictions
  WHERE label IS NOT NULL
), ranked_lists AS (
  -- One row per model and query to evaluate, even if empty. (ranked_lists/integer_key.sql)
  SELECT
    "model", query_id,
    -- number of the list in this statement
    CAST(ROW_NUMBER() OVER (ORDER BY "model", query_id) AS INT) AS list_id
  FROM qrels
  GROUP BY "model", query_id
), ranked_documents AS (
  -- One row per model, query and retrieved document, with its rank. (ranked_documents/in_order.sql)
  SELECT
    ranked_lists.list_id, predictions.doc_id,
    ROW_NUMBER() OVER (
      PARTITION BY ranked_lists.list_id ORDER BY predictions.score DESC, predictions.doc_id DESC
    ) AS rank  -- position in the list, from 1
  FROM predictions
  INNER JOIN ranked_lists
    ON ranked_lists."model" IS NOT DISTINCT FROM predictions."model"
    AND ranked_lists.query_id = predictions.query_id
), ideal_ranking AS (
  -- One row per model, query and judged document of positive relevance. (ideal_ranking/judged.sql)
  SELECT
    ranked_lists.list_id,
    qrels.relevance,  -- grade; negative if selected for judging, but never judged
    ranked_documents.rank,  -- NULL if not retrieved
    ROW_NUMBER() OVER (
      PARTITION BY ranked_lists.list_id ORDER BY qrels.relevance DESC
    ) AS ideal_rank
  FROM qrels
  INNER JOIN ranked_lists
    ON ranked_lists."model" IS NOT DISTINCT FROM qrels."model"
    AND ranked_lists.query_id = qrels.query_id
  LEFT JOIN ranked_documents
    ON ranked_documents.list_id = ranked_lists.list_id AND ranked_documents.doc_id = qrels.doc_id
  WHERE qrels.relevance > 0
), group_sizes AS (
  -- One row per model. (group_sizes.sql)
  SELECT "model", COUNT(*) AS total_rows FROM predictions GROUP BY "model"
), prediction_ranks AS (
  -- One row per prediction.
  SELECT
    "model", score, label,
    RANK() OVER (PARTITION BY "model" ORDER BY score DESC) AS rank,
    CUME_DIST() OVER (PARTITION BY "model" ORDER BY score DESC) AS share_at_or_above
  FROM predictions
), positive_ranks AS (
  -- One row per model and distinct score of a positive.
  SELECT
    "model", score,
    COUNT(*) AS positives,
    MAX(rank) - 1 AS rows_above,  -- predictions of higher scores
    MAX(share_at_or_above) AS share_at_or_above
  FROM prediction_ranks
  WHERE label = 1
  GROUP BY "model", score
), rank_counts AS (
  -- One row per model and distinct score of a positive, with the counts of rows down to it.
  SELECT
    positive_ranks."model", positive_ranks.positives, positive_ranks.rows_above,
    group_sizes.total_rows,
    -- a whole number again, from the share
    FLOOR(positive_ranks.share_at_or_above * group_sizes.total_rows + 0.5) AS rows_at_or_above,
    SUM(positive_ranks.positives) OVER (
      PARTITION BY positive_ranks."model"
      ORDER BY positive_ranks.score DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS positives_at_or_above,
    SUM(positive_ranks.positives) OVER (PARTITION BY positive_ranks."model") AS total_positives
  FROM positive_ranks
  INNER JOIN group_sizes ON group_sizes."model" IS NOT DISTINCT FROM positive_ranks."model"
), positive_thresholds AS (
  -- One row per model and distinct score of a positive. (positive_thresholds/by_rank.sql)
  SELECT
    "model",
    positives,  -- positives of this score
    rows_at_or_above - rows_above - positives AS negatives,  -- negatives of this score
    rows_above - positives_at_or_above + positives AS negatives_above,
    -- rows less positives, both below
    total_rows - rows_at_or_above - total_positives + positives_at_or_above AS negatives_below
  FROM rank_counts
), discounted_gains_metrics AS (
  -- One row per model and query with a judged document of positive relevance.
  SELECT
    list_id,
    -- nDCG: discounted gain of the documents at ranks 1 to 10 over that of the ideal ranking.
    SUM(CASE WHEN rank <= 10 THEN relevance * (LN(2) / LN(rank + 1)) ELSE 0 END) / NULLIF(
      SUM(CASE WHEN ideal_rank <= 10 THEN relevance * (LN(2) / LN(ideal_rank + 1)) ELSE 0 END), 0
    ) AS ndcg_at_10
  FROM ideal_ranking
  GROUP BY list_id
), positive_thresholds_metrics AS (
  -- One row per model with a positive.
  SELECT
    "model",
    -- AUC: area under the ROC curve, the probability that a positive is scored above a negative; a
    -- tie counts half.
    SUM(positives * (negatives_below + 0.5 * negatives)) / NULLIF(
      SUM(positives * (negatives_below + 0.5 * negatives))
      + SUM(positives * (negatives_above + 0.5 * negatives)),
      0
    ) AS auc
  FROM positive_thresholds
  GROUP BY "model"
), group_metrics AS (
  -- One row per model.
  SELECT ranked_lists."model", AVG(COALESCE(discounted_gains_metrics.ndcg_at_10, 0)) AS ndcg_at_10
  FROM ranked_lists
  LEFT JOIN discounted_gains_metrics ON discounted_gains_metrics.list_id = ranked_lists.list_id
  GROUP BY ranked_lists."model"
)
SELECT group_sizes."model", group_metrics.ndcg_at_10, positive_thresholds_metrics.auc
FROM group_sizes
LEFT JOIN positive_thresholds_metrics
  ON positive_thresholds_metrics."model" IS NOT DISTINCT FROM group_sizes."model"
LEFT JOIN group_metrics ON group_metrics."model" IS NOT DISTINCT FROM group_sizes."model"
ORDER BY group_sizes."model" NULLS FIRST;
