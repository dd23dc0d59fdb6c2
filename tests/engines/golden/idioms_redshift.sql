-- rankings: ranked_documents
    ON COALESCE(CAST(selected_queries."model" AS VARCHAR), '')
    = COALESCE(CAST(run."model" AS VARCHAR), '')
    AND (
      selected_queries."model" = run."model"
      OR (selected_queries."model" IS NULL AND run."model" IS NULL)
    )
-- rankings: judged_documents
    ON COALESCE(CAST(ranked_documents."model" AS VARCHAR), '')
    = COALESCE(CAST(selected_queries."model" AS VARCHAR), '')
      ranked_documents."model" = selected_queries."model"
      OR (ranked_documents."model" IS NULL AND selected_queries."model" IS NULL)
-- rankings: query_metrics
    ON COALESCE(CAST(discounted_gains_metrics."model" AS VARCHAR), '')
      discounted_gains_metrics."model" = selected_queries."model"
      OR (discounted_gains_metrics."model" IS NULL AND selected_queries."model" IS NULL)
    ON COALESCE(CAST(relevant_documents_metrics."model" AS VARCHAR), '')
      relevant_documents_metrics."model" = selected_queries."model"
      OR (relevant_documents_metrics."model" IS NULL AND selected_queries."model" IS NULL)
-- predictions: predictions_with_threshold_rows
), predictions_with_threshold_rows AS (
  -- The same rows, with aggregates of those with equal keys.
    ROW_NUMBER() OVER (PARTITION BY "campaign", score) AS equal_number,
    MIN(CASE WHEN label = 1 THEN score END) OVER (PARTITION BY "campaign", score) AS equal_rows,
    "campaign", score, label, weight
-- predictions: predictions_with_threshold
    -- NULL above the highest score of a positive
    MIN(CASE WHEN equal_number = 1 THEN equal_rows END) OVER (
      PARTITION BY "campaign"
      ORDER BY score DESC, equal_number
    ) AS threshold_score
  FROM predictions_with_threshold_rows
-- predictions: threshold_segments
      SUM(positives) OVER (
        PARTITION BY "campaign"
        ORDER BY has_threshold, threshold DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS positives_above,
      SUM(negatives + negatives_between) OVER (
    ) AS negatives_above,
        ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ) AS negatives_below,
-- predictions: result
  ON COALESCE(CAST(positive_thresholds_metrics."campaign" AS VARCHAR), '')
  = COALESCE(CAST(predictions_metrics."campaign" AS VARCHAR), '')
  AND (
    positive_thresholds_metrics."campaign" = predictions_metrics."campaign"
    OR (positive_thresholds_metrics."campaign" IS NULL AND predictions_metrics."campaign" IS NULL)
  );
-- auc_logloss: rank_counts
    ON COALESCE(CAST(predictions_metrics."campaign" AS VARCHAR), '')
    = COALESCE(CAST(positive_ranks."campaign" AS VARCHAR), '')
      predictions_metrics."campaign" = positive_ranks."campaign"
      OR (predictions_metrics."campaign" IS NULL AND positive_ranks."campaign" IS NULL)
    AND COALESCE(CAST(predictions_metrics."day" AS VARCHAR), '')
    = COALESCE(CAST(positive_ranks."day" AS VARCHAR), '')
      predictions_metrics."day" = positive_ranks."day"
      OR (predictions_metrics."day" IS NULL AND positive_ranks."day" IS NULL)
-- auc_logloss: result
  AND COALESCE(CAST(positive_thresholds_metrics."day" AS VARCHAR), '')
  = COALESCE(CAST(predictions_metrics."day" AS VARCHAR), '')
    positive_thresholds_metrics."day" = predictions_metrics."day"
    OR (positive_thresholds_metrics."day" IS NULL AND predictions_metrics."day" IS NULL)
-- kendalltau: digits
WITH digits AS (
  -- One row per digit.
  SELECT 0 AS digit UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
  UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9
-- kendalltau: predictions
), predictions AS (
-- kendalltau: block_sizes
      EXP((1 + ones.digit + 10 * tens.digit) * LN(CAST(2 AS DOUBLE PRECISION))) + 0.5
    ) AS BIGINT) AS block_size  -- EXP is rounded to the power of two
  FROM digits AS ones
  CROSS JOIN digits AS tens
  WHERE 1 + ones.digit + 10 * tens.digit <= 40
-- kendalltau: cumulative_halves
    -- at lower scores
      SUM(lower_weight) OVER (
        PARTITION BY block ORDER BY score_index ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS lower_before,
      SUM(upper_weight) OVER (
    ) AS upper_before
-- kendalltau: bitwise_counted_pairs
    weight * COALESCE(
      SUM(weight) OVER (
        PARTITION BY score_index
        ORDER BY label_index
    ) AS score_ties,
        PARTITION BY label_index
        ORDER BY score_index
    ) AS label_ties
-- roc: score_thresholds
      SUM(positives) OVER (ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0
      SUM(negatives) OVER (ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0
-- together: ranked_documents
    ON COALESCE(CAST(evaluated_queries."model" AS VARCHAR), '')
    = COALESCE(CAST(predictions."model" AS VARCHAR), '')
      evaluated_queries."model" = predictions."model"
      OR (evaluated_queries."model" IS NULL AND predictions."model" IS NULL)
-- together: ideal_ranking
    = COALESCE(CAST(qrels."model" AS VARCHAR), '')
      ranked_documents."model" = qrels."model"
      OR (ranked_documents."model" IS NULL AND qrels."model" IS NULL)
-- together: rank_counts
    ON COALESCE(CAST(group_sizes."model" AS VARCHAR), '')
    = COALESCE(CAST(positive_ranks."model" AS VARCHAR), '')
      group_sizes."model" = positive_ranks."model"
      OR (group_sizes."model" IS NULL AND positive_ranks."model" IS NULL)
-- together: group_metrics
    = COALESCE(CAST(evaluated_queries."model" AS VARCHAR), '')
      discounted_gains_metrics."model" = evaluated_queries."model"
      OR (discounted_gains_metrics."model" IS NULL AND evaluated_queries."model" IS NULL)
-- together: result
  ON COALESCE(CAST(positive_thresholds_metrics."model" AS VARCHAR), '')
  = COALESCE(CAST(group_sizes."model" AS VARCHAR), '')
    positive_thresholds_metrics."model" = group_sizes."model"
    OR (positive_thresholds_metrics."model" IS NULL AND group_sizes."model" IS NULL)
  ON COALESCE(CAST(group_metrics."model" AS VARCHAR), '')
    group_metrics."model" = group_sizes."model"
    OR (group_metrics."model" IS NULL AND group_sizes."model" IS NULL)
-- logs: unit_influence
    ON COALESCE(CAST(logs_metrics."campaign" AS VARCHAR), '')
    = COALESCE(CAST(logs."campaign" AS VARCHAR), '')
      logs_metrics."campaign" = logs."campaign"
      OR (logs_metrics."campaign" IS NULL AND logs."campaign" IS NULL)
-- logs: metric_sums
    = COALESCE(CAST(influence_sums."campaign" AS VARCHAR), '')
      logs_metrics."campaign" = influence_sums."campaign"
      OR (logs_metrics."campaign" IS NULL AND influence_sums."campaign" IS NULL)
-- logs: standard_errors
  OFFSET 0
-- logs: result
  ON COALESCE(CAST(intervals."campaign" AS VARCHAR), '')
  = COALESCE(CAST(logs_metrics."campaign" AS VARCHAR), '')
    intervals."campaign" = logs_metrics."campaign"
    OR (intervals."campaign" IS NULL AND logs_metrics."campaign" IS NULL)
-- experiment: observations
), observations AS (
-- experiment: quadrature_nodes
    4 * LN(1 + EXP(CAST(0.45 AS DOUBLE PRECISION) * (ones.digit + 10 * tens.digit) - 31)) AS node,
    1.8 / (1 + EXP(31 - CAST(0.45 AS DOUBLE PRECISION) * (ones.digit + 10 * tens.digit))) AS weight
-- experiment: corrected_p_values
      END) OVER (ORDER BY p_rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
