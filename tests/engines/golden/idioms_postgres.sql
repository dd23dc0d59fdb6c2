-- rankings: qrels
  SELECT "user_id" AS query_id, "item_id" AS doc_id, CAST("stars" AS DOUBLE PRECISION) AS relevance
-- rankings: run
    "user_id" AS query_id, "item_id" AS doc_id, CAST("predicted" AS DOUBLE PRECISION) AS score
-- rankings: queries
  SELECT "user_id" AS query_id, CAST("revenue" AS DOUBLE PRECISION) AS weight
  FROM shop.eval.users
-- rankings: ranked_documents
    ON ARRAY[selected_queries."model"] = ARRAY[run."model"]
-- rankings: judged_documents
    ON ARRAY[ranked_documents."model"] = ARRAY[selected_queries."model"]
-- rankings: relevant_documents
    CAST(1 AS DOUBLE PRECISION) / rank AS reciprocal_rank,
-- rankings: discounted_gains_metrics
    SUM(CASE
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
    ON ARRAY[discounted_gains_metrics."model"] = ARRAY[selected_queries."model"]
    ON ARRAY[relevant_documents_metrics."model"] = ARRAY[selected_queries."model"]
-- predictions: result
CREATE TABLE shop.ads.daily_metrics AS
  ON ARRAY[positive_thresholds_metrics."campaign"] = ARRAY[predictions_metrics."campaign"]
  AND positive_thresholds_metrics."campaign" IS NOT DISTINCT FROM predictions_metrics."campaign";
-- predictions: predictions
    CAST("p_click" AS DOUBLE PRECISION) AS score, CAST("click" AS DOUBLE PRECISION) AS label,
    CAST(1 / "propensity" AS DOUBLE PRECISION) AS weight
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
    ON ARRAY[predictions_metrics."campaign"] = ARRAY[positive_ranks."campaign"]
    AND ARRAY[predictions_metrics."day"] = ARRAY[positive_ranks."day"]
-- auc_logloss: result
  AND ARRAY[positive_thresholds_metrics."day"] = ARRAY[predictions_metrics."day"]
-- kendalltau: predictions
  SELECT CAST(score AS DOUBLE PRECISION) AS score, CAST(label AS DOUBLE PRECISION) AS label
-- kendalltau: label_score_weights
  SELECT label, score, CAST(COUNT(*) AS DOUBLE PRECISION) AS weight
-- kendalltau: block_sizes
    CAST(FLOOR(EXP(number * LN(CAST(2 AS DOUBLE PRECISION))) + 0.5) AS BIGINT) AS block_size
-- kendalltau: label_blocks
      CAST(label_score_indexes.label_index + 1099511627776 AS DOUBLE PRECISION)
      / block_sizes.block_size
      CAST(2 * (label_score_indexes.label_index + 1099511627776) AS DOUBLE PRECISION)
-- roc: score_class_weights
  -- One row per distinct score. (score_class_weights/by_score.sql)
    SUM(CASE WHEN label = 1 THEN CAST(1.0 AS DOUBLE PRECISION) ELSE 0 END) AS positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE CAST(1.0 AS DOUBLE PRECISION) END) AS negatives
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
-- together: qrels
), qrels AS NOT MATERIALIZED (
-- together: ranked_documents
    ON ARRAY[evaluated_queries."model"] = ARRAY[predictions."model"]
-- together: ideal_ranking
    ON ARRAY[ranked_documents."model"] = ARRAY[qrels."model"]
-- together: rank_counts
  INNER JOIN group_sizes
    ON ARRAY[group_sizes."model"] = ARRAY[positive_ranks."model"]
    AND group_sizes."model" IS NOT DISTINCT FROM positive_ranks."model"
-- together: group_metrics
    ON ARRAY[discounted_gains_metrics."model"] = ARRAY[evaluated_queries."model"]
-- together: result
  ON ARRAY[positive_thresholds_metrics."model"] = ARRAY[group_sizes."model"]
  AND positive_thresholds_metrics."model" IS NOT DISTINCT FROM group_sizes."model"
LEFT JOIN group_metrics
  ON ARRAY[group_metrics."model"] = ARRAY[group_sizes."model"]
  AND group_metrics."model" IS NOT DISTINCT FROM group_sizes."model"
-- logs: logs
    CAST(reward AS DOUBLE PRECISION) AS reward,
    CAST(propensity AS DOUBLE PRECISION) AS propensity,
    CAST(target_propensity AS DOUBLE PRECISION) AS target_propensity,
    CAST(predicted_reward AS DOUBLE PRECISION) AS predicted_reward,
    CAST(expected_reward AS DOUBLE PRECISION) AS expected_reward
-- logs: logs_metrics
    CAST(1 AS DOUBLE PRECISION) / COUNT(*) AS dr_by_sum,  -- derivative of the metric by its sum
-- logs: unit_influence
), unit_influence AS MATERIALIZED (
  INNER JOIN logs_metrics
    ON ARRAY[logs_metrics."campaign"] = ARRAY[logs."campaign"]
    AND logs_metrics."campaign" IS NOT DISTINCT FROM logs."campaign"
-- logs: metric_sums
    ON ARRAY[logs_metrics."campaign"] = ARRAY[influence_sums."campaign"]
    AND logs_metrics."campaign" IS NOT DISTINCT FROM influence_sums."campaign"
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
LEFT JOIN intervals
  ON ARRAY[intervals."campaign"] = ARRAY[logs_metrics."campaign"]
  AND intervals."campaign" IS NOT DISTINCT FROM logs_metrics."campaign"
-- answers: qrels
    answers."intent", answers.query_id, relevant_ids.doc_id,
      ELSE CAST(answers.grades[relevant_ids.list_position] AS DOUBLE PRECISION)
  CROSS JOIN UNNEST(answers.relevant) WITH ORDINALITY AS relevant_ids(doc_id, list_position)
-- answers: run
    answers."intent", answers.query_id, retrieved_ids.doc_id,
    retrieved_ids.list_position AS rank
  CROSS JOIN UNNEST(answers.retrieved) WITH ORDINALITY AS retrieved_ids(doc_id, list_position)
-- answers: ranked_documents
    ON ARRAY[answers."intent"] = ARRAY[deduplicated_run."intent"]
-- answers: judged_documents
    ON ARRAY[answers."intent"] = ARRAY[deduplicated_qrels."intent"]
    ON ARRAY[ranked_documents."intent"] = ARRAY[answers."intent"]
-- answers: relevant_documents_metrics
    SUM(CASE WHEN rank <= 5 THEN CAST(1.0 AS DOUBLE PRECISION) ELSE 0 END)
    / CAST(COUNT(*) AS DOUBLE PRECISION) AS r_at_5
-- answers: result
  ON ARRAY[discounted_gains_metrics."intent"] = ARRAY[answers."intent"]
  ON ARRAY[relevant_documents_metrics."intent"] = ARRAY[answers."intent"]
ORDER BY answers."intent" NULLS FIRST;
-- interleaved: interleaved
  SELECT session_id, team, CAST(clicks AS DOUBLE PRECISION) AS clicks
  FROM shop.search.sessions
-- interleaved: result
  CAST(SUM(weight + is_won_by_b - is_won_by_a) AS DOUBLE PRECISION) / NULLIF(SUM(weight), 0) / 2
  - 0.5 AS preference,
  CAST(COALESCE(SUM(is_won_by_b), 0) AS DOUBLE PRECISION) AS num_won_by_b
-- experiment: observations
    "user_id" AS unit_id, CAST("arm" AS VARCHAR) AS variant,
    CAST(clicks AS DOUBLE PRECISION) AS clicks, CAST(views AS DOUBLE PRECISION) AS views,
    CAST(revenue AS DOUBLE PRECISION) AS revenue,
    CAST(revenue_before AS DOUBLE PRECISION) AS revenue_before
-- experiment: raised_moments
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
    -- NULL if squares are only rounding errors, as of equal units
      AND squares > CAST('1e-24' AS DOUBLE PRECISION) * units * value * value
    END AS variance
-- experiment: effects
    (1 - CAST(0.95 AS DOUBLE PRECISION)) / COUNT(*) OVER () AS alpha
-- experiment: quadrature_nodes
    4 * LN(1 + EXP(CAST(0.45 AS DOUBLE PRECISION) * number - 31)) AS node,
    1.8 / (1 + EXP(31 - CAST(0.45 AS DOUBLE PRECISION) * number)) AS weight
-- experiment: t_requests
      WHEN 'test' THEN 1 - CAST(0.95 AS DOUBLE PRECISION)
      WHEN 'power' THEN 2 - 2 * CAST(0.8 AS DOUBLE PRECISION)
-- experiment: t_first_guesses
), t_first_guesses AS MATERIALIZED (
-- experiment: t_quantiles_1
), t_quantiles_1 AS MATERIALIZED (
-- experiment: t_quantiles_2
), t_quantiles_2 AS MATERIALIZED (
-- experiment: sample_ratio_counts
    SUM(units) OVER () AS total_units,
    CAST(1 AS DOUBLE PRECISION) / COUNT(*) OVER () AS expected_share
-- experiment: sample_ratio_statistic
    CAST(COUNT(*) - 1 AS DOUBLE PRECISION) AS df,
    CASE WHEN COUNT(*) > 2 THEN SQRT(CAST(COUNT(*) - 2 AS DOUBLE PRECISION)) ELSE 0 END AS peak
-- experiment: chi_square_densities
), chi_square_densities AS MATERIALIZED (
-- experiment: results
      WHEN sample_ratio_test.p_value >= 0.001 AND p_adjusted < 1 - CAST(0.95 AS DOUBLE PRECISION)
