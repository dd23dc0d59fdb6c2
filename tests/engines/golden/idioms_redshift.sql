-- rankings: qrels
  SELECT "user_id" AS query_id, "item_id" AS doc_id, CAST("stars" AS DOUBLE PRECISION) AS relevance
-- rankings: run
    "user_id" AS query_id, "item_id" AS doc_id, CAST("predicted" AS DOUBLE PRECISION) AS score
-- rankings: queries
  SELECT "user_id" AS query_id, CAST("revenue" AS DOUBLE PRECISION) AS weight
  FROM shop.eval.users
-- rankings: ranked_documents
    ON COALESCE(CAST(selected_queries."model" AS VARCHAR), '')
    = COALESCE(CAST(run."model" AS VARCHAR), '')
      selected_queries."model" = run."model"
      OR (selected_queries."model" IS NULL AND run."model" IS NULL)
-- rankings: judged_documents
    ON COALESCE(CAST(ranked_documents."model" AS VARCHAR), '')
    = COALESCE(CAST(selected_queries."model" AS VARCHAR), '')
      ranked_documents."model" = selected_queries."model"
      OR (ranked_documents."model" IS NULL AND selected_queries."model" IS NULL)
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
    ON COALESCE(CAST(discounted_gains_metrics."model" AS VARCHAR), '')
      discounted_gains_metrics."model" = selected_queries."model"
      OR (discounted_gains_metrics."model" IS NULL AND selected_queries."model" IS NULL)
    ON COALESCE(CAST(relevant_documents_metrics."model" AS VARCHAR), '')
      relevant_documents_metrics."model" = selected_queries."model"
      OR (relevant_documents_metrics."model" IS NULL AND selected_queries."model" IS NULL)
-- predictions: result
CREATE TABLE shop.ads.daily_metrics AS
  ON COALESCE(CAST(positive_thresholds_metrics."campaign" AS VARCHAR), '')
  = COALESCE(CAST(predictions_metrics."campaign" AS VARCHAR), '')
  AND (
    positive_thresholds_metrics."campaign" = predictions_metrics."campaign"
    OR (positive_thresholds_metrics."campaign" IS NULL AND predictions_metrics."campaign" IS NULL)
  );
-- predictions: predictions
    CAST("p_click" AS DOUBLE PRECISION) AS score, CAST("click" AS DOUBLE PRECISION) AS label,
    CAST(1 / "propensity" AS DOUBLE PRECISION) AS weight
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
-- predictions: predictions_metrics
        WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
        THEN CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
        WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
        THEN 1 - CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
-- ndcg_ap: qrels
  SELECT query_id, doc_id, CAST(relevance AS DOUBLE PRECISION) AS relevance
  FROM shop.eval.qrels
-- ndcg_ap: run
  SELECT query_id, doc_id, CAST(score AS DOUBLE PRECISION) AS score FROM shop.eval.run
-- ndcg_ap: relevant_documents_metrics
    ) / CAST(COUNT(*) AS DOUBLE PRECISION) AS ap
-- auc_logloss: predictions
    CAST("p_click" AS DOUBLE PRECISION) AS score, CAST("click" AS DOUBLE PRECISION) AS label
-- auc_logloss: predictions_metrics
      WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
      THEN CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
      WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
      THEN 1 - CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
    END)) / CAST(COUNT(*) AS DOUBLE PRECISION) AS log_loss
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
  SELECT CAST(score AS DOUBLE PRECISION) AS score, CAST(label AS DOUBLE PRECISION) AS label
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
-- roc: score_class_weights
    SUM(CASE WHEN label = 1 THEN CAST(1.0 AS DOUBLE PRECISION) ELSE 0 END) AS positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE CAST(1.0 AS DOUBLE PRECISION) END) AS negatives
-- roc: score_thresholds
      SUM(positives) OVER (ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0
      SUM(negatives) OVER (ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0
-- roc: curve_segments
      998 / CAST(4 AS DOUBLE PRECISION) * (
        + COALESCE((negatives_above + negatives) / NULLIF(total_negatives, 0), 0)
        + CAST('1e-10' AS DOUBLE PRECISION)
-- roc: roc
    0 AS point, CAST(NULL AS DOUBLE PRECISION) AS threshold,
-- beyond: run
  SELECT query_id, doc_id, CAST(score AS DOUBLE PRECISION) AS score FROM shop.eval.shown
-- beyond: weighted_recommendations
    1 / SQRT(CAST(LEAST(list_length, 10) AS DOUBLE PRECISION)) AS inverse_norm
-- beyond: recommended_items_metrics
    CAST(SUM(CASE WHEN group_catalog.doc_id IS NULL THEN 0 ELSE 1 END) AS DOUBLE PRECISION)
-- together: predictions
    CAST(score AS DOUBLE PRECISION) AS score, CAST(label AS DOUBLE PRECISION) AS label,
    query_id, doc_id
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
  INNER JOIN group_sizes
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
LEFT JOIN group_metrics
  ON COALESCE(CAST(group_metrics."model" AS VARCHAR), '')
    group_metrics."model" = group_sizes."model"
    OR (group_metrics."model" IS NULL AND group_sizes."model" IS NULL)
-- logs: logs
    CAST(reward AS DOUBLE PRECISION) AS reward,
    CAST(propensity AS DOUBLE PRECISION) AS propensity,
    CAST(target_propensity AS DOUBLE PRECISION) AS target_propensity,
    CAST(predicted_reward AS DOUBLE PRECISION) AS predicted_reward,
    CAST(expected_reward AS DOUBLE PRECISION) AS expected_reward
-- logs: logs_metrics
    CAST(1 AS DOUBLE PRECISION) / COUNT(*) AS dr_by_sum,  -- derivative of the metric by its sum
-- logs: unit_influence
  INNER JOIN logs_metrics
    ON COALESCE(CAST(logs_metrics."campaign" AS VARCHAR), '')
    = COALESCE(CAST(logs."campaign" AS VARCHAR), '')
      logs_metrics."campaign" = logs."campaign"
      OR (logs_metrics."campaign" IS NULL AND logs."campaign" IS NULL)
-- logs: metric_sums
    = COALESCE(CAST(influence_sums."campaign" AS VARCHAR), '')
      logs_metrics."campaign" = influence_sums."campaign"
      OR (logs_metrics."campaign" IS NULL AND influence_sums."campaign" IS NULL)
-- logs: standard_errors
    fourth_powers / NULLIF(squares * squares, 0)
    - CAST(1 AS DOUBLE PRECISION) / units AS concentration
  OFFSET 0
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
LEFT JOIN intervals
  ON COALESCE(CAST(intervals."campaign" AS VARCHAR), '')
  = COALESCE(CAST(logs_metrics."campaign" AS VARCHAR), '')
    intervals."campaign" = logs_metrics."campaign"
    OR (intervals."campaign" IS NULL AND logs_metrics."campaign" IS NULL)
-- interleaved: interleaved
  SELECT session_id, team, CAST(clicks AS DOUBLE PRECISION) AS clicks
  FROM shop.search.sessions
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
-- experiment: corrected_p_values
      END) OVER (ORDER BY p_rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
-- experiment: sample_ratio_counts
    SUM(units) OVER () AS total_units,
    CAST(1 AS DOUBLE PRECISION) / COUNT(*) OVER () AS expected_share
-- experiment: sample_ratio_statistic
    CAST(COUNT(*) - 1 AS DOUBLE PRECISION) AS df,
    CASE WHEN COUNT(*) > 2 THEN SQRT(CAST(COUNT(*) - 2 AS DOUBLE PRECISION)) ELSE 0 END AS peak
-- experiment: results
      WHEN sample_ratio_test.p_value >= 0.001 AND p_adjusted < 1 - CAST(0.95 AS DOUBLE PRECISION)
