-- sqlrank 0.1.0 for PostgreSQL: nDCG@10, AUC, one row per model
-- reads: shop.eval.predictions (predictions)
-- plan: rank_method=sort, score_order=rank; alternative: rank_method=count, for long lists with three judged documents or fewer; score_order=buckets, if one group alone is more than a worker holds
-- made by: sqlrank sql nDCG@10 AUC --predictions shop.eval.predictions --by model --dialect postgres
WITH predictions AS NOT MATERIALIZED (
  -- One row per prediction. (shop.eval.predictions)
  SELECT
    "model",
    CAST(score AS DOUBLE PRECISION) AS score,
    CAST(label AS DOUBLE PRECISION) AS label,
    query_id, doc_id
  FROM shop.eval.predictions
), qrels AS (
  -- One row per model, query and judged document.
  SELECT "model", query_id, doc_id, label AS relevance
  FROM predictions
  WHERE NOT label IS NULL
), evaluated_queries AS (
  -- One row per model and query that has judgments, retrieved for or not.
  -- (relations/evaluated_queries/judged.sql)
  SELECT "model", query_id
  FROM qrels
  GROUP BY "model", query_id
), judgments AS (
  -- One row per model, query and judged document, retrieved or not. (relations/judgments.sql)
  SELECT
    ranked_lists."model", ranked_lists.query_id, qrels.doc_id,
    qrels.relevance  -- grade; negative if pooled but not judged
  FROM qrels
  JOIN evaluated_queries AS ranked_lists
    ON ranked_lists."model" IS NOT DISTINCT FROM qrels."model" AND ranked_lists.query_id = qrels.query_id
), retrieved_documents AS (
  -- One row per model, query and retrieved document, judged or not.
  -- (relations/retrieved_documents/all.sql)
  SELECT ranked_lists."model", ranked_lists.query_id, run.doc_id, run.score
  FROM predictions AS run
  JOIN evaluated_queries AS ranked_lists
    ON ranked_lists."model" IS NOT DISTINCT FROM run."model" AND ranked_lists.query_id = run.query_id
), ranked_documents AS (
  -- One row per model, query and retrieved document, ranked by score; ties by doc_id, greatest
  -- first, as in trec_eval. (relations/ranked_documents/doc_desc.sql)
  SELECT
    "model", query_id, doc_id,
    rank  -- position in the list, from 1
  FROM (
    -- One row per model, query and retrieved document.
    SELECT
      "model", query_id, doc_id,
      ROW_NUMBER() OVER (PARTITION BY "model", query_id ORDER BY score DESC, doc_id DESC) AS rank
    FROM retrieved_documents
  ) AS numbered_documents
), judged_documents AS (
  -- One row per model, query and judged document, retrieved or not.
  -- (relations/judged_documents/by_join.sql)
  SELECT
    judgments."model", judgments.query_id, judgments.relevance,
    ranked_documents.rank,  -- NULL if not retrieved
    CAST(1 AS DOUBLE PRECISION) AS doc_count,  -- documents that the row counts as
    CAST(1 AS DOUBLE PRECISION) AS rank_probability  -- probability that the document has this rank
  FROM judgments
  LEFT JOIN ranked_documents
    ON ranked_documents."model" IS NOT DISTINCT FROM judgments."model"
    AND ranked_documents.query_id = judgments.query_id
    AND ranked_documents.doc_id = judgments.doc_id
), documents_with_gain AS (
  -- One row per model, query and judged document of positive relevance, retrieved or not: only
  -- these can have a gain. (relations/documents_with_gain.sql)
  SELECT "model", query_id, relevance, rank, doc_count, rank_probability
  FROM judged_documents
  WHERE relevance > 0
), ideal_ranking AS (
  -- One row per model, query and judged document of positive relevance, retrieved or not, also
  -- ranked by gain. (relations/ideal_ranking/judged.sql)
  SELECT
    "model", query_id, relevance, rank, doc_count, rank_probability,
    -- position by gain, 1 is the greatest
    ROW_NUMBER() OVER (PARTITION BY "model", query_id ORDER BY doc_count * relevance DESC) AS ideal_rank
  FROM documents_with_gain
), discounted_gains AS (
  -- One row per model, query and judged document of positive relevance: its gains, discounted by
  -- its ranks. (relations/discounted_gains.sql)
  SELECT
    "model", query_id, rank, ideal_rank,
    -- NULL if not retrieved
    rank_probability * relevance * (LN(CAST(2 AS DOUBLE PRECISION)) / LN(CAST(rank + 1 AS DOUBLE PRECISION))) AS discounted_gain,
    -- 0 if the gain is negative
    CASE
      WHEN relevance > 0
      THEN doc_count * relevance * (LN(CAST(2 AS DOUBLE PRECISION)) / LN(CAST(ideal_rank + 1 AS DOUBLE PRECISION)))
      ELSE 0
    END AS ideal_discounted_gain
  FROM ideal_ranking
), group_sizes AS (
  -- One row per model: its number of predictions. (relations/group_sizes.sql)
  SELECT "model", COUNT(*) AS total_rows
  FROM predictions
  GROUP BY "model"
), positive_thresholds AS (
  -- One row per model and distinct score of a positive: class counts around it.
  -- (relations/positive_thresholds/by_rank.sql)
  SELECT
    "model", total_positives, positives,
    rows_at_or_above - rows_above - positives AS negatives,
    total_rows - rows_at_or_above - total_positives + positives_at_or_above AS negatives_below,
    total_rows - total_positives AS total_negatives
  FROM (
    -- One row per model and distinct score of a positive.
    SELECT
      positive_ranks."model", positive_ranks.positives, positive_ranks.rows_above,
      group_sizes.total_rows,
      FLOOR(positive_ranks.share_at_or_above * group_sizes.total_rows + CAST(0.5 AS DOUBLE PRECISION)) AS rows_at_or_above,
      SUM(positive_ranks.positives) OVER (
        PARTITION BY positive_ranks."model"
        ORDER BY positive_ranks.score DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS positives_at_or_above,
      SUM(positive_ranks.positives) OVER (PARTITION BY positive_ranks."model") AS total_positives
    FROM (
      -- One row per model and distinct score of a positive.
      SELECT
        "model", score,
        COUNT(*) AS positives,
        MAX(rank) - 1 AS rows_above,
        MAX(share_at_or_above) AS share_at_or_above
      FROM (
        -- One row per prediction.
        SELECT
          "model", label, score,
          RANK() OVER (PARTITION BY "model" ORDER BY score DESC) AS rank,
          CUME_DIST() OVER (PARTITION BY "model" ORDER BY score DESC) AS share_at_or_above
        FROM predictions
      ) AS prediction_ranks
      WHERE label = 1
      GROUP BY "model", score
    ) AS positive_ranks
    JOIN group_sizes ON group_sizes."model" IS NOT DISTINCT FROM positive_ranks."model"
  ) AS rank_counts
), discounted_gains_metrics AS (
  -- One row per model and query.
  SELECT
    "model", query_id,
    -- nDCG: discounted gain of the first k documents over that of the ideal ranking.
    SUM(CASE WHEN rank <= 10 THEN discounted_gain ELSE 0 END)
    / NULLIF(SUM(CASE WHEN ideal_rank <= 10 THEN ideal_discounted_gain ELSE 0 END), 0) AS ndcg_at_10
  FROM discounted_gains
  GROUP BY "model", query_id
), positive_thresholds_metrics AS (
  -- One row per model.
  SELECT
    "model",
    -- AUC: area under the ROC curve: how probably a positive is scored above a negative; a tie
    -- counts half.
    SUM(
      CAST(positives AS DOUBLE PRECISION) / NULLIF(total_positives, 0) * ((negatives_below + CAST(0.5 AS DOUBLE PRECISION) * negatives) / NULLIF(total_negatives, 0))
    ) AS auc
  FROM positive_thresholds
  GROUP BY "model"
), query_metrics AS (
  -- One row per model and query to evaluate.
  SELECT l."model", COALESCE(discounted_gains_metrics.ndcg_at_10, 0) AS ndcg_at_10
  FROM evaluated_queries AS l
  LEFT JOIN discounted_gains_metrics
    ON discounted_gains_metrics."model" IS NOT DISTINCT FROM l."model"
    AND discounted_gains_metrics.query_id = l.query_id
), predictions_metrics AS (
  -- One row per model.
  SELECT "model"
  FROM predictions
  GROUP BY "model"
), group_metrics AS (
  -- One row per model.
  SELECT "model", AVG(ndcg_at_10) AS ndcg_at_10
  FROM query_metrics
  GROUP BY "model"
)
SELECT
  predictions_metrics."model",
  group_metrics.ndcg_at_10 AS ndcg_at_10,
  positive_thresholds_metrics.auc AS auc
FROM predictions_metrics
LEFT JOIN positive_thresholds_metrics
  ON positive_thresholds_metrics."model" IS NOT DISTINCT FROM predictions_metrics."model"
LEFT JOIN group_metrics ON group_metrics."model" IS NOT DISTINCT FROM predictions_metrics."model"
ORDER BY predictions_metrics."model" NULLS FIRST;
