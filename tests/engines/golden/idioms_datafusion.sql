-- rankings: qrels
    "user_id" AS query_id, "item_id" AS doc_id,
    CAST("stars" AS DOUBLE PRECISION) + 0 AS relevance  -- + 0 makes -0.0 a 0.0
-- rankings: run
    CAST("predicted" AS DOUBLE PRECISION) + 0 AS score  -- + 0 makes -0.0 a 0.0
-- rankings: queries
  SELECT "user_id" AS query_id, CAST("revenue" AS DOUBLE PRECISION) AS weight
  FROM shop.eval.users
-- rankings: ranked_documents
    ON (selected_queries."model" IS NOT DISTINCT FROM run."model")
-- rankings: judged_documents
    ON (ranked_documents."model" IS NOT DISTINCT FROM selected_queries."model")
-- rankings: relevant_documents
    CAST(1 AS DOUBLE PRECISION) / rank AS reciprocal_rank,
-- rankings: discounted_gains_metrics
      WHEN rank <= 10
      THEN relevance * (LN(CAST(2 AS DOUBLE PRECISION)) / LN(CAST(rank + 1 AS DOUBLE PRECISION)))
    END)
      SUM(CASE
        WHEN ideal_rank <= 10
        THEN relevance
        * (LN(CAST(2 AS DOUBLE PRECISION)) / LN(CAST(ideal_rank + 1 AS DOUBLE PRECISION)))
        ELSE 0
      END),
-- rankings: relevant_documents_metrics
      CASE WHEN rank IS NOT NULL THEN CAST(cumulative_hits AS DOUBLE PRECISION) / rank ELSE 0 END
    ) / CAST(COUNT(*) AS DOUBLE PRECISION) AS ap,
-- rankings: query_metrics
    ON (discounted_gains_metrics."model" IS NOT DISTINCT FROM selected_queries."model")
    ON (relevant_documents_metrics."model" IS NOT DISTINCT FROM selected_queries."model")
-- predictions: predictions
    CAST("p_click" AS DOUBLE PRECISION) + 0 AS score,  -- + 0 makes -0.0 a 0.0
    CAST("click" AS DOUBLE PRECISION) + 0 AS label,
    CAST(1 / "propensity" AS DOUBLE PRECISION) AS weight
-- predictions: predictions_metrics
        WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
        THEN CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
        WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
        THEN 1 - CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
-- ndcg_ap: qrels
    CAST(relevance AS DOUBLE PRECISION) + 0 AS relevance  -- + 0 makes -0.0 a 0.0
  FROM shop.eval.qrels
-- ndcg_ap: run
    CAST(score AS DOUBLE PRECISION) + 0 AS score  -- + 0 makes -0.0 a 0.0
  FROM shop.eval.run
-- ndcg_ap: relevant_documents_metrics
    ) / CAST(COUNT(*) AS DOUBLE PRECISION) AS ap
-- auc_logloss: predictions
    CAST("click" AS DOUBLE PRECISION) + 0 AS label
-- auc_logloss: predictions_metrics
      WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
      THEN CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
      WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
      THEN 1 - CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
    END)) / CAST(COUNT(*) AS DOUBLE PRECISION) AS log_loss
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
-- kendalltau: label_score_weights
  SELECT label, score, CAST(COUNT(*) AS DOUBLE PRECISION) AS weight
-- kendalltau: block_sizes
      EXP((1 + ones.digit + 10 * tens.digit) * LN(CAST(2 AS DOUBLE PRECISION))) + 0.5
    ) AS BIGINT) AS block_size  -- EXP is rounded to the power of two
  FROM digits AS ones
  CROSS JOIN digits AS tens
  WHERE 1 + ones.digit + 10 * tens.digit <= 40
-- kendalltau: label_blocks
      CAST(label_score_indexes.label_index + 1099511627776 AS DOUBLE PRECISION)
      / block_sizes.block_size
      CAST(2 * (label_score_indexes.label_index + 1099511627776) AS DOUBLE PRECISION)
-- roc: score_class_weights
    SUM(CASE WHEN label = 1 THEN CAST(1.0 AS DOUBLE PRECISION) ELSE 0 END) AS positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE CAST(1.0 AS DOUBLE PRECISION) END) AS negatives
-- roc: curve_segments
      998 / CAST(4 AS DOUBLE PRECISION) * (
        + COALESCE((negatives_above + negatives) / NULLIF(total_negatives, 0), 0)
        + CAST('1e-10' AS DOUBLE PRECISION)
-- roc: roc
    0 AS point, CAST(NULL AS DOUBLE PRECISION) AS threshold,
-- beyond: run
  FROM shop.eval.shown
-- beyond: weighted_recommendations
    1 / SQRT(CAST(LEAST(list_length, 10) AS DOUBLE PRECISION)) AS inverse_norm
-- beyond: recommended_items_metrics
    CAST(SUM(CASE WHEN group_catalog.doc_id IS NULL THEN 0 ELSE 1 END) AS DOUBLE PRECISION)
-- together: predictions
    CAST(label AS DOUBLE PRECISION) + 0 AS label,
    query_id, doc_id
-- together: ranked_documents
    ON (evaluated_queries."model" IS NOT DISTINCT FROM predictions."model")
-- together: ideal_ranking
    ON (ranked_documents."model" IS NOT DISTINCT FROM qrels."model")
-- together: group_metrics
    ON (discounted_gains_metrics."model" IS NOT DISTINCT FROM evaluated_queries."model")
-- logs: logs
    CAST(reward AS DOUBLE PRECISION) AS reward,
    CAST(propensity AS DOUBLE PRECISION) AS propensity,
    CAST(target_propensity AS DOUBLE PRECISION) AS target_propensity,
    CAST(predicted_reward AS DOUBLE PRECISION) AS predicted_reward,
    CAST(expected_reward AS DOUBLE PRECISION) AS expected_reward
-- logs: logs_metrics
    CAST(1 AS DOUBLE PRECISION) / COUNT(*) AS dr_by_sum,  -- derivative of the metric by its sum
-- logs: standard_errors
    fourth_powers / NULLIF(squares * squares, 0)
    - CAST(1 AS DOUBLE PRECISION) / units AS concentration
-- logs: interval_terms
    (units - 1 + CAST(0.8999505931404055 AS DOUBLE PRECISION))
    / NULLIF(units - 1 - CAST(1.5207788172066563 AS DOUBLE PRECISION), 0) AS t_growth,
      THEN 1 + 2 * concentration - CAST(4 AS DOUBLE PRECISION) / units
-- logs: margins
      WHEN se > CAST('1e-12' AS DOUBLE PRECISION) * ABS(value)
        WHEN df = 1 THEN CAST(12.706204736174696 AS DOUBLE PRECISION)
        WHEN df = 2 THEN CAST(4.30265272974946 AS DOUBLE PRECISION)
        ELSE CAST(1.9599639845400536 AS DOUBLE PRECISION)
        + CAST(2.37227122985838 AS DOUBLE PRECISION) / df
        + CAST(2.8224987226224036 AS DOUBLE PRECISION) / POWER(df, 2)
        + CAST(2.555842051278845 AS DOUBLE PRECISION) / POWER(df, 3)
        + CAST(1.58978315186063 AS DOUBLE PRECISION) / POWER(df, 4)
        + CAST(0.7284721002357477 AS DOUBLE PRECISION) / POWER(df, 5)
        + CAST(0.6732174654619627 AS DOUBLE PRECISION) / POWER(df, 6)
        - CAST(0.1380370249284715 AS DOUBLE PRECISION) / POWER(df, 7)
        - CAST(1.093219426976424 AS DOUBLE PRECISION) / POWER(df, 8)
        + CAST(4.192721092336624 AS DOUBLE PRECISION) / POWER(df, 9)
        - CAST(5.569650865297036 AS DOUBLE PRECISION) / POWER(df, 10)
        + CAST(2.8783930654182805 AS DOUBLE PRECISION) / POWER(df, 11)
        se * se * inflation * (effective_df + CAST(0.8999505931404055 AS DOUBLE PRECISION))
        / NULLIF(effective_df - CAST(1.5207788172066563 AS DOUBLE PRECISION), 0)
        / NULLIF(t_growth, 0)
-- logs: result
  CAST(NULL AS DOUBLE PRECISION) AS ess_ci_low,
  CAST(NULL AS DOUBLE PRECISION) AS ess_ci_high,
  CAST(NULL AS DOUBLE PRECISION) AS ess_se,
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
-- answers: relevant_documents_metrics
    SUM(CASE WHEN rank <= 5 THEN CAST(1.0 AS DOUBLE PRECISION) ELSE 0 END)
    / CAST(COUNT(*) AS DOUBLE PRECISION) AS r_at_5
-- answers: result
  ON (discounted_gains_metrics."intent" IS NOT DISTINCT FROM answers."intent")
  ON (relevant_documents_metrics."intent" IS NOT DISTINCT FROM answers."intent")
ORDER BY answers."intent" NULLS FIRST;
-- interleaved: interleaved
  SELECT session_id, team, CAST(clicks AS DOUBLE PRECISION) AS clicks
  FROM shop.search.sessions
-- interleaved: session_outcomes
  GROUP BY COALESCE(session_id, NULL)
-- interleaved: result
  CAST(SUM(weight + is_won_by_b - is_won_by_a) AS DOUBLE PRECISION) / NULLIF(SUM(weight), 0) / 2
  - 0.5 AS preference,
  CAST(COALESCE(SUM(is_won_by_b), 0) AS DOUBLE PRECISION) AS num_won_by_b
-- experiment: observations
), observations AS (
    "user_id" AS unit_id, CAST("arm" AS VARCHAR) AS variant,
    CAST(clicks AS DOUBLE PRECISION) AS clicks, CAST(views AS DOUBLE PRECISION) AS views,
    CAST(revenue AS DOUBLE PRECISION) AS revenue,
    CAST(revenue_before AS DOUBLE PRECISION) AS revenue_before
-- experiment: experiment_units
  GROUP BY COALESCE(unit_id, NULL)
-- experiment: linearized_moments
      AND squares > CAST('1e-12' AS DOUBLE PRECISION) * square_terms
      AND ABS(squares - units * ratio * (1 - ratio)) <= CAST('1e-9' AS DOUBLE PRECISION) * squares
-- experiment: pooled_moments
    CAST(treatment.units * control.units AS DOUBLE PRECISION)
    / (treatment.units + control.units) AS half_harmonic_units,
-- experiment: covariate_coefficients
      WHEN covariate_squares > CAST('1e-12' AS DOUBLE PRECISION) * covariate_square_terms
      AND covariate_squares
      > CAST('1e-24' AS DOUBLE PRECISION) * units * covariate_ratio * covariate_ratio
-- experiment: adjusted_moments
      WHEN squares > CAST('1e-12' AS DOUBLE PRECISION) * square_terms
      AND squares > CAST('1e-24' AS DOUBLE PRECISION) * units * ratio * ratio
-- experiment: variant_estimates
      AND squares > CAST('1e-24' AS DOUBLE PRECISION) * units * value * value
-- experiment: effects
    (1 - CAST(0.95 AS DOUBLE PRECISION)) / COUNT(*) OVER () AS alpha
-- experiment: quadrature_nodes
    4 * LN(1 + EXP(CAST(0.45 AS DOUBLE PRECISION) * (ones.digit + 10 * tens.digit) - 31)) AS node,
    1.8 / (1 + EXP(31 - CAST(0.45 AS DOUBLE PRECISION) * (ones.digit + 10 * tens.digit))) AS weight
-- experiment: t_requests
      WHEN 'test' THEN 1 - CAST(0.95 AS DOUBLE PRECISION)
      WHEN 'power' THEN 2 - 2 * CAST(0.8 AS DOUBLE PRECISION)
-- experiment: sample_ratio_counts
    SUM(units) OVER () AS total_units,
    CAST(1 AS DOUBLE PRECISION) / COUNT(*) OVER () AS expected_share
-- experiment: sample_ratio_statistic
    CAST(COUNT(*) - 1 AS DOUBLE PRECISION) AS df,
    CASE WHEN COUNT(*) > 2 THEN SQRT(CAST(COUNT(*) - 2 AS DOUBLE PRECISION)) ELSE 0 END AS peak
-- experiment: results
      WHEN sample_ratio_test.p_value >= 0.001 AND p_adjusted < 1 - CAST(0.95 AS DOUBLE PRECISION)
