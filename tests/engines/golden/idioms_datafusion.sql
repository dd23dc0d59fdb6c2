-- rankings: qrels
    "user_id" AS query_id, "item_id" AS doc_id,
    CAST("stars" AS DOUBLE PRECISION) + 0 AS relevance  -- + 0 makes -0.0 a 0.0
-- rankings: run
    CAST("predicted" AS DOUBLE PRECISION) + 0 AS score  -- + 0 makes -0.0 a 0.0
-- rankings: ranked_documents
    ON (selected_queries."model" IS NOT DISTINCT FROM run."model")
-- rankings: judged_documents
    ON (ranked_documents."model" IS NOT DISTINCT FROM selected_queries."model")
-- rankings: query_metrics
    ON (discounted_gains_metrics."model" IS NOT DISTINCT FROM selected_queries."model")
    ON (relevant_documents_metrics."model" IS NOT DISTINCT FROM selected_queries."model")
-- predictions: predictions
    CAST("p_click" AS DOUBLE PRECISION) + 0 AS score,  -- + 0 makes -0.0 a 0.0
    CAST("click" AS DOUBLE PRECISION) + 0 AS label,
-- ndcg_ap: qrels
    CAST(relevance AS DOUBLE PRECISION) + 0 AS relevance  -- + 0 makes -0.0 a 0.0
-- ndcg_ap: run
    CAST(score AS DOUBLE PRECISION) + 0 AS score  -- + 0 makes -0.0 a 0.0
  FROM shop.eval.run
-- auc_logloss: predictions
    CAST("click" AS DOUBLE PRECISION) + 0 AS label
-- auc_logloss: rank_counts
    ON (predictions_metrics."campaign" IS NOT DISTINCT FROM positive_ranks."campaign")
    AND (predictions_metrics."day" IS NOT DISTINCT FROM positive_ranks."day")
-- auc_logloss: result
  ON (positive_thresholds_metrics."campaign" IS NOT DISTINCT FROM predictions_metrics."campaign")
  AND (positive_thresholds_metrics."day" IS NOT DISTINCT FROM predictions_metrics."day")
-- kendalltau: digits
WITH digits AS (
  -- One row per digit.
  SELECT 0 AS digit UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
  UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9
-- kendalltau: predictions
), predictions AS (
    CAST(score AS DOUBLE PRECISION) + 0 AS score,  -- + 0 makes -0.0 a 0.0
    CAST(label AS DOUBLE PRECISION) + 0 AS label
-- kendalltau: block_sizes
      EXP((1 + ones.digit + 10 * tens.digit) * LN(CAST(2 AS DOUBLE PRECISION))) + 0.5
    ) AS BIGINT) AS block_size  -- EXP is rounded to the power of two
  FROM digits AS ones
  CROSS JOIN digits AS tens
  WHERE 1 + ones.digit + 10 * tens.digit <= 40
-- beyond: run
  FROM shop.eval.shown
-- together: predictions
    CAST(label AS DOUBLE PRECISION) + 0 AS label,
-- together: ranked_documents
    ON (evaluated_queries."model" IS NOT DISTINCT FROM predictions."model")
-- together: ideal_ranking
    ON (ranked_documents."model" IS NOT DISTINCT FROM qrels."model")
-- together: group_metrics
    ON (discounted_gains_metrics."model" IS NOT DISTINCT FROM evaluated_queries."model")
-- answers: relevant_ids
    UNNEST(RANGE(1, CAST(ARRAY_LENGTH(relevant) AS BIGINT) + 1)) AS list_position
-- answers: qrels
    CASE WHEN grades IS NULL THEN 1 ELSE CAST(grades[list_position] AS DOUBLE PRECISION) END
    + 0 AS relevance  -- + 0 makes -0.0 a 0.0
-- answers: retrieved_ids
), retrieved_ids AS (
    UNNEST(retrieved) AS doc_id,
    UNNEST(RANGE(1, CAST(ARRAY_LENGTH(retrieved) AS BIGINT) + 1)) AS list_position
-- answers: run
  SELECT "intent", query_id, doc_id, list_position AS rank FROM retrieved_ids
-- answers: ranked_documents
    ON (answers."intent" IS NOT DISTINCT FROM deduplicated_run."intent")
-- answers: judged_documents
    ON (answers."intent" IS NOT DISTINCT FROM deduplicated_qrels."intent")
    ON (ranked_documents."intent" IS NOT DISTINCT FROM answers."intent")
-- answers: result
  ON (discounted_gains_metrics."intent" IS NOT DISTINCT FROM answers."intent")
  ON (relevant_documents_metrics."intent" IS NOT DISTINCT FROM answers."intent")
-- interleaved: session_outcomes
  GROUP BY COALESCE(session_id, NULL)
-- experiment: observations
), observations AS (
-- experiment: experiment_units
  GROUP BY COALESCE(unit_id, NULL)
-- experiment: quadrature_nodes
    4 * LN(1 + EXP(CAST(0.45 AS DOUBLE PRECISION) * (ones.digit + 10 * tens.digit) - 31)) AS node,
    1.8 / (1 + EXP(31 - CAST(0.45 AS DOUBLE PRECISION) * (ones.digit + 10 * tens.digit))) AS weight
