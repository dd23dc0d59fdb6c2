-- rankings: qrels
    "user_id" AS query_id, "item_id" AS doc_id,
    CAST("stars" AS Nullable(Float64)) + 0 AS relevance  -- + 0 makes -0.0 a 0.0
-- rankings: run
    CAST("predicted" AS Nullable(Float64)) + 0 AS score  -- + 0 makes -0.0 a 0.0
-- rankings: queries
  SELECT "user_id" AS query_id, CAST("revenue" AS Nullable(Float64)) AS weight
  FROM shop.eval.users
-- rankings: selected_queries
  SELECT systems."model" AS "model", query_ids.query_id AS query_id
-- rankings: ranked_documents
    selected_queries."model" AS "model", selected_queries.query_id AS query_id,
    run.doc_id AS doc_id,
    ) AS Nullable(Float64)) AS rank  -- position in the list, from 1
-- rankings: judged_documents
    qrels.relevance AS relevance,  -- grade; negative if selected for judging, but never judged
    ranked_documents.rank AS rank  -- NULL if not retrieved
-- rankings: ideal_ranking
      PARTITION BY "model", query_id ORDER BY relevance DESC
    ) AS Nullable(Float64)) AS ideal_rank
-- rankings: relevant_documents
    ) AS Nullable(Float64)) AS cumulative_hits  -- relevant documents at this rank or above
-- rankings: query_metrics
    selected_queries."model" AS "model", queries.weight AS weight,
-- rankings: result
ORDER BY "model" NULLS FIRST
SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, prefer_column_name_to_alias = 1;
-- predictions: result
CREATE OR REPLACE TABLE shop.ads.daily_metrics
ENGINE=MergeTree

ORDER BY tuple() AS
  predictions_metrics."campaign" AS "campaign",
  positive_thresholds_metrics.auc, positive_thresholds_metrics.aps, predictions_metrics.log_loss
-- predictions: predictions
    CAST("p_click" AS Nullable(Float64)) + 0 AS score,  -- + 0 makes -0.0 a 0.0
    CAST("click" AS Nullable(Float64)) + 0 AS label,
    CAST(1 / "propensity" AS Nullable(Float64)) AS weight
-- ndcg_ap: qrels
    CAST(relevance AS Nullable(Float64)) + 0 AS relevance  -- + 0 makes -0.0 a 0.0
  FROM shop.eval.qrels
-- ndcg_ap: run
    CAST(score AS Nullable(Float64)) + 0 AS score  -- + 0 makes -0.0 a 0.0
  FROM shop.eval.run
-- ndcg_ap: ranked_documents
    evaluated_queries.query_id AS query_id, run.doc_id AS doc_id,
-- ndcg_ap: judged_documents
    qrels.query_id AS query_id, qrels.relevance AS relevance,
-- ndcg_ap: ideal_ranking
      PARTITION BY query_id ORDER BY relevance DESC
-- ndcg_ap: result
  ON relevant_documents_metrics.query_id = evaluated_queries.query_id
-- auc_logloss: predictions
    CAST("click" AS Nullable(Float64)) + 0 AS label
-- auc_logloss: predictions_metrics
    CAST(COUNT(*) AS Nullable(Float64)) AS total_rows,
-- auc_logloss: prediction_ranks
    CAST(RANK() OVER (
      PARTITION BY "campaign", "day" ORDER BY score DESC
    ) AS Nullable(Float64)) AS rank,
    cume_dist() OVER (PARTITION BY "campaign", "day" ORDER BY score DESC) AS share_at_or_above
-- auc_logloss: positive_ranks
    CAST(COUNT(*) AS Nullable(Float64)) AS positives,
-- auc_logloss: rank_counts
    positive_ranks."campaign" AS "campaign", positive_ranks."day" AS "day",
    positive_ranks.positives AS positives, positive_ranks.rows_above AS rows_above,
    predictions_metrics.total_rows AS total_rows,
-- auc_logloss: result
  predictions_metrics."day" AS "day",
  positive_thresholds_metrics.auc, predictions_metrics.log_loss
ORDER BY predictions_metrics."campaign" NULLS FIRST, predictions_metrics."day" NULLS FIRST
-- kendalltau: predictions
    CAST(score AS Nullable(Float64)) + 0 AS score,  -- + 0 makes -0.0 a 0.0
    CAST(label AS Nullable(Float64)) + 0 AS label
-- kendalltau: label_score_weights
  SELECT label, score, CAST(COUNT(*) AS Nullable(Float64)) AS weight
-- kendalltau: dense_indexes
    CAST(DENSE_RANK() OVER (ORDER BY score) AS Nullable(Float64)) - 1 AS score_index,
    CAST(DENSE_RANK() OVER (ORDER BY label) AS Nullable(Float64)) - 1 AS label_index
-- kendalltau: block_sizes
    FLOOR(EXP(CAST(number AS Nullable(Int32)) * LN(2)) + 0.5) AS block_size
  FROM numbers(1, 40) AS series
-- kendalltau: label_blocks
    label_score_indexes.score_index AS score_index, label_score_indexes.weight AS weight,
    -- number of the block; + 2^40 keeps block sizes apart
    FLOOR((label_score_indexes.label_index + 1099511627776) / block_sizes.block_size) AS block,
    ) AS half_block  -- half of the block: 2 * block is the lower one
-- kendalltau: result
FROM pair_counts
-- roc: score_class_weights
  -- One row per distinct score. (score_class_weights/by_score.sql)
-- roc: curve_segments
    ) AS segment
-- roc: segment_ranks
      PARTITION BY segment ORDER BY score DESC
    ) AS Nullable(Float64)) AS rank_from_start,
      PARTITION BY segment ORDER BY score
    ) AS Nullable(Float64)) AS rank_from_end
-- roc: threshold_points
    CAST(ROW_NUMBER() OVER (ORDER BY score DESC) AS Nullable(Float64)) AS point,
    lead(score) OVER (ORDER BY score DESC) AS next_score
-- roc: roc
    0 AS point, CAST(NULL AS Nullable(Float64)) AS threshold,
-- roc: result
SELECT CAST(point AS Nullable(Int64)) AS point, threshold, fpr, tpr
ORDER BY point
-- beyond: run
  FROM shop.eval.shown
-- beyond: ranked_documents
      PARTITION BY query_id ORDER BY score DESC, doc_id DESC
    ) AS Nullable(Float64)) AS rank,  -- position in the list, from 1
    CAST(COUNT(*) OVER (PARTITION BY query_id) AS Nullable(Float64)) AS list_length
-- beyond: weighted_recommendations
    1 / SQRT(LEAST(list_length, 10)) AS inverse_norm  -- of its documents, at most 10
-- beyond: recommendation_counts
    weighted_recommendations.doc_id AS doc_id,
-- beyond: catalog_sizes
  SELECT CAST(COUNT(*) AS Nullable(Float64)) AS catalog_size FROM group_catalog
-- beyond: result
CROSS JOIN recommendation_counts_metrics
-- together: predictions
    CAST(label AS Nullable(Float64)) + 0 AS label,
    query_id, doc_id
-- together: ranked_documents
    evaluated_queries."model" AS "model", evaluated_queries.query_id AS query_id,
    predictions.doc_id AS doc_id,
-- together: ideal_ranking
    qrels."model" AS "model", qrels.query_id AS query_id, qrels.relevance AS relevance,
    ranked_documents.rank AS rank,  -- NULL if not retrieved
-- together: group_sizes
  SELECT "model", CAST(COUNT(*) AS Nullable(Float64)) AS total_rows
-- together: prediction_ranks
    CAST(RANK() OVER (PARTITION BY "model" ORDER BY score DESC) AS Nullable(Float64)) AS rank,
    cume_dist() OVER (PARTITION BY "model" ORDER BY score DESC) AS share_at_or_above
-- together: rank_counts
    positive_ranks."model" AS "model", positive_ranks.positives AS positives,
    positive_ranks.rows_above AS rows_above, group_sizes.total_rows AS total_rows,
-- together: group_metrics
    evaluated_queries."model" AS "model",
-- together: result
SELECT group_sizes."model" AS "model", group_metrics.ndcg_at_10, positive_thresholds_metrics.auc
ORDER BY group_sizes."model" NULLS FIRST
-- logs: logs
    CAST(reward AS Nullable(Float64)) AS reward,
    CAST(propensity AS Nullable(Float64)) AS propensity,
    CAST(target_propensity AS Nullable(Float64)) AS target_propensity,
    CAST(predicted_reward AS Nullable(Float64)) AS predicted_reward,
    CAST(expected_reward AS Nullable(Float64)) AS expected_reward
-- logs: unit_influence
    logs."campaign" AS "campaign",
-- logs: influence_sums
    CAST(COUNT(*) AS Nullable(Float64)) AS units,
-- logs: metric_sums
    influence_sums."campaign" AS "campaign", metric AS metric, units AS units,
-- logs: result
  logs_metrics."campaign" AS "campaign",
  logs_metrics.snips, intervals.snips_ci_low, intervals.snips_ci_high, intervals.snips_se,
  CAST(intervals.snips_units AS Nullable(Int64)) AS snips_n_units,
  CAST(intervals.dr_units AS Nullable(Int64)) AS dr_n_units,
  CAST(NULL AS Nullable(Float64)) AS ess_ci_low,
  CAST(NULL AS Nullable(Float64)) AS ess_ci_high,
  CAST(NULL AS Nullable(Float64)) AS ess_se,
  CAST(NULL AS Nullable(Int64)) AS ess_n_units,
  CAST(intervals.mean_weight_units AS Nullable(Int64)) AS mean_weight_n_units
ORDER BY logs_metrics."campaign" NULLS FIRST
-- answers: relevant_ids
    relevant AS element_list,
    arrayJoin(arrayEnumerate(relevant)) AS list_position
-- answers: qrels
    element_list[list_position] AS doc_id,
    CASE WHEN grades IS NULL THEN 1 ELSE CAST(grades[list_position] AS Nullable(Float64)) END
    + 0 AS relevance  -- + 0 makes -0.0 a 0.0
-- answers: retrieved_ids
), retrieved_ids AS (
    retrieved AS element_list,
    arrayJoin(arrayEnumerate(retrieved)) AS list_position
-- answers: run
    element_list[list_position] AS doc_id, CAST(list_position AS Nullable(Int32)) AS rank
  FROM retrieved_ids
-- answers: ranked_documents
    answers."intent" AS "intent", answers.query_id AS query_id, deduplicated_run.doc_id AS doc_id,
-- answers: judged_documents
    answers."intent" AS "intent", answers.query_id AS query_id,
    -- grade; negative if selected for judging, but never judged
    deduplicated_qrels.relevance AS relevance,
-- answers: ideal_ranking
      PARTITION BY "intent", query_id ORDER BY relevance DESC
-- answers: result
  answers."intent" AS "intent",
ORDER BY answers."intent" NULLS FIRST
-- interleaved: interleaved
  SELECT session_id, team, CAST(clicks AS Nullable(Float64)) AS clicks
  FROM shop.search.sessions
-- interleaved: result
  CAST(COALESCE(SUM(is_won_by_b), 0) AS Nullable(Float64)) AS num_won_by_b
FROM session_outcomes
-- experiment: observations
    "user_id" AS unit_id, CAST("arm" AS Nullable(String)) AS variant,
    CAST(clicks AS Nullable(Float64)) AS clicks, CAST(views AS Nullable(Float64)) AS views,
    CAST(revenue AS Nullable(Float64)) AS revenue,
    CAST(revenue_before AS Nullable(Float64)) AS revenue_before
-- experiment: variant_means
    CAST(COUNT(revenue_before) AS Nullable(Float64)) AS revenue_before_count  -- units that have it
-- experiment: variant_comoments
    imputed_means.variant AS variant, MAX(units) AS units,
    MAX(multi_variant_units) AS multi_variant_units, MAX(variant_mean_clicks) AS mean_clicks,
    MAX(variant_mean_views) AS mean_views, MAX(variant_mean_revenue) AS mean_revenue,
-- experiment: metric_moments
    metric AS metric, variant AS variant, units AS units,
    multi_variant_units AS multi_variant_units,
-- experiment: pooled_moments
    treatment.metric AS metric, treatment.variant AS variant,
-- experiment: adjusted_moments
    covariate_coefficients.metric AS metric, covariate_coefficients.variant AS variant,
    raised_moments.variant AS arm, units AS units, effective_units AS effective_units,
    jackknife_growth AS jackknife_growth, cuped_theta AS cuped_theta,
-- experiment: quadrature_nodes
    4 * LN(1 + EXP(0.45 * CAST(number AS Nullable(Int32)) - 31)) AS node,
    1.8 / (1 + EXP(31 - 0.45 * CAST(number AS Nullable(Int32)))) AS weight
  FROM numbers(0, 100) AS series
-- experiment: t_requests
    metric AS metric, variant AS variant, purpose AS purpose,
-- experiment: t_normalizers
    metric AS metric, variant AS variant, purpose AS purpose, df AS df, alpha AS alpha,
    t_squared_by_df AS t_squared_by_df,
-- experiment: t_integrals_1
    normalizer AS normalizer, z AS z,
-- experiment: p_value_ranks
    ) AS Nullable(Float64)) AS p_rank,
    CAST(COUNT(p_value) OVER () AS Nullable(Float64)) AS num_tests
-- experiment: sample_ratio_statistic
    CAST(COUNT(*) AS Nullable(Float64)) - 1 AS df,
      WHEN CAST(COUNT(*) AS Nullable(Float64)) > 2
      THEN SQRT(CAST(COUNT(*) AS Nullable(Float64)) - 2)
    END AS peak
-- experiment: chi_square_tails
    df AS df, peak AS peak,
    is_tail AS is_tail,  -- 1 from the statistic up, 0 of the whole density
-- experiment: chi_square_points
    df AS df, peak AS peak, is_tail AS is_tail, weight / (4 + slope) AS weight,
    start_z + node / (4 + slope) AS z
-- experiment: results
    effects.metric AS metric, 'A' AS control, effects.variant AS variant,
    value_control AS value_control, value AS value, difference AS difference,
    1 - alpha AS ci_level, relative_difference AS relative_difference,
    se AS se, n_units_control AS n_units_control, effects.n_units AS n_units,
    difference / NULLIF(se, 0) AS statistic, effects.df AS df,
    corrected_p_values.p_value AS p_value, p_adjusted AS p_adjusted,
    mde_critical_value * se AS mde, cuped_theta AS cuped_theta,
    multi_variant_units AS multi_variant_units
    n_units AS n_units, statistic AS statistic, df AS df, p_value AS p_value, NULL, NULL, NULL,
    NULL, multi_variant_units AS multi_variant_units
-- experiment: result
  CAST(n_units_control AS Nullable(Int64)) AS n_units_control,
  CAST(n_units AS Nullable(Int64)) AS n_units,
  CAST(multi_variant_units AS Nullable(Int64)) AS multi_variant_units
ORDER BY metric NULLS FIRST, variant NULLS FIRST
