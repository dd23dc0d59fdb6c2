-- rankings: qrels
  SELECT "user_id" AS query_id, "item_id" AS doc_id, CAST("stars" AS REAL) AS relevance
-- rankings: run
  SELECT "model", "user_id" AS query_id, "item_id" AS doc_id, CAST("predicted" AS REAL) AS score
-- rankings: queries
  SELECT "user_id" AS query_id, CAST("revenue" AS REAL) AS weight FROM shop.eval.users
-- rankings: ranked_documents
    ON selected_queries."model" IS run."model" AND selected_queries.query_id = run.query_id
-- rankings: judged_documents
    ON ranked_documents."model" IS selected_queries."model"
-- rankings: relevant_documents
    CAST(1 AS REAL) / rank AS reciprocal_rank,
-- rankings: discounted_gains_metrics
    CAST(SUM(CASE
      WHEN rank <= 10 THEN relevance * (LN(CAST(2 AS REAL)) / LN(CAST(rank + 1 AS REAL)))
    END) AS REAL)
      SUM(CASE
        WHEN ideal_rank <= 10
        THEN relevance * (LN(CAST(2 AS REAL)) / LN(CAST(ideal_rank + 1 AS REAL)))
        ELSE 0
      END),
-- rankings: relevant_documents_metrics
    SUM(CASE WHEN rank IS NOT NULL THEN CAST(cumulative_hits AS REAL) / rank ELSE 0 END)
    / CAST(COUNT(*) AS REAL) AS ap,
-- rankings: query_metrics
    ON discounted_gains_metrics."model" IS selected_queries."model"
    ON relevant_documents_metrics."model" IS selected_queries."model"
-- predictions: result
CREATE TABLE shop.ads.daily_metrics AS
  ON positive_thresholds_metrics."campaign" IS predictions_metrics."campaign";
-- predictions: predictions
    CAST("p_click" AS REAL) AS score, CAST("click" AS REAL) AS label,
    CAST(1 / "propensity" AS REAL) AS weight
-- predictions: positive_thresholds_metrics
      CAST(positives AS REAL) / NULLIF(total_positives, 0) * (
        CAST(negatives_above + negatives AS REAL)
-- ndcg_ap: qrels
  SELECT query_id, doc_id, CAST(relevance AS REAL) AS relevance FROM shop.eval.qrels
-- ndcg_ap: run
  SELECT query_id, doc_id, CAST(score AS REAL) AS score FROM shop.eval.run
-- ndcg_ap: relevant_documents_metrics
    / CAST(COUNT(*) AS REAL) AS ap
-- ndcg_ap: result
  AVG(CAST(COALESCE(discounted_gains_metrics.ndcg_at_10, 0) AS REAL)) AS ndcg_at_10,
  AVG(CAST(COALESCE(relevant_documents_metrics.ap, 0) AS REAL)) AS ap
-- auc_logloss: predictions
  SELECT "campaign", "day", CAST("p_click" AS REAL) AS score, CAST("click" AS REAL) AS label
-- auc_logloss: predictions_metrics
    END)) / CAST(COUNT(*) AS REAL) AS log_loss
-- auc_logloss: rank_counts
    ON predictions_metrics."campaign" IS positive_ranks."campaign"
    AND predictions_metrics."day" IS positive_ranks."day"
-- auc_logloss: result
  ON positive_thresholds_metrics."campaign" IS predictions_metrics."campaign"
  AND positive_thresholds_metrics."day" IS predictions_metrics."day"
-- kendalltau: digits
WITH digits AS (
  -- One row per digit.
  SELECT 0 AS digit UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
  UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9
-- kendalltau: predictions
), predictions AS (
  SELECT CAST(score AS REAL) AS score, CAST(label AS REAL) AS label FROM shop.eval.pairs
-- kendalltau: label_score_weights
  SELECT label, score, CAST(COUNT(*) AS REAL) AS weight
-- kendalltau: block_sizes
      EXP((1 + ones.digit + 10 * tens.digit) * LN(CAST(2 AS REAL))) + 0.5
    ) AS INTEGER) AS block_size  -- EXP is rounded to the power of two
  FROM digits AS ones
  CROSS JOIN digits AS tens
  WHERE 1 + ones.digit + 10 * tens.digit <= 40
-- kendalltau: label_blocks
      CAST(label_score_indexes.label_index + 1099511627776 AS REAL) / block_sizes.block_size
    ) AS INTEGER) AS block,  -- number of the block; + 2^40 keeps block sizes apart
      CAST(2 * (label_score_indexes.label_index + 1099511627776) AS REAL) / block_sizes.block_size
    ) AS INTEGER) AS half_block  -- half of the block: 2 * block is the lower one
-- roc: predictions
  SELECT CAST(score AS REAL) AS score, CAST(label AS REAL) AS label
-- roc: score_class_weights
  -- One row per distinct score. (score_class_weights/by_score.sql)
-- roc: curve_segments
      998 / CAST(4 AS REAL) * (
        COALESCE(CAST(positives_above + positives AS REAL) / NULLIF(total_positives, 0), 0)
        + COALESCE(CAST(negatives_above + negatives AS REAL) / NULLIF(total_negatives, 0), 0)
        + 1e-10
    ) AS INTEGER) AS segment
-- roc: roc
    CAST(CASE
      WHEN next_score IS NULL OR fp > total_negatives THEN total_negatives
      ELSE fp
    END AS REAL) / NULLIF(total_negatives, 0) AS fpr,  -- false positive rate
      WHEN next_score IS NULL OR tp > total_positives THEN total_positives
      ELSE tp
    END AS REAL) / NULLIF(total_positives, 0) AS tpr  -- true positive rate
    0 AS point, CAST(NULL AS REAL) AS threshold,
-- roc: result
SELECT CAST(point AS INTEGER) AS point, threshold, fpr, tpr
-- beyond: run
  SELECT query_id, doc_id, CAST(score AS REAL) AS score FROM shop.eval.shown
-- beyond: weighted_recommendations
    1 / SQRT(CAST(MIN(list_length, 10) AS REAL)) AS inverse_norm  -- of its documents, at most 10
-- beyond: recommended_items_metrics
    CAST(SUM(CASE WHEN group_catalog.doc_id IS NULL THEN 0 ELSE 1 END) AS REAL)
-- together: predictions
  SELECT "model", CAST(score AS REAL) AS score, CAST(label AS REAL) AS label, query_id, doc_id
-- together: ranked_documents
    ON evaluated_queries."model" IS predictions."model"
-- together: ideal_ranking
    ON ranked_documents."model" IS qrels."model"
-- together: rank_counts
  INNER JOIN group_sizes ON group_sizes."model" IS positive_ranks."model"
-- together: group_metrics
    AVG(CAST(COALESCE(discounted_gains_metrics.ndcg_at_10, 0) AS REAL)) AS ndcg_at_10
    ON discounted_gains_metrics."model" IS evaluated_queries."model"
-- together: result
LEFT JOIN positive_thresholds_metrics ON positive_thresholds_metrics."model" IS group_sizes."model"
LEFT JOIN group_metrics ON group_metrics."model" IS group_sizes."model"
ORDER BY group_sizes."model";
-- logs: logs
    CAST(reward AS REAL) AS reward, CAST(propensity AS REAL) AS propensity,
    CAST(target_propensity AS REAL) AS target_propensity,
    CAST(predicted_reward AS REAL) AS predicted_reward,
    CAST(expected_reward AS REAL) AS expected_reward
-- logs: logs_metrics
    CAST(1 AS REAL) / COUNT(*) AS dr_by_sum,  -- derivative of the metric by its sum
-- logs: unit_influence
  INNER JOIN logs_metrics ON logs_metrics."campaign" IS logs."campaign"
-- logs: metric_sums
  INNER JOIN logs_metrics ON logs_metrics."campaign" IS influence_sums."campaign"
-- logs: standard_errors
    fourth_powers / NULLIF(squares * squares, 0) - CAST(1 AS REAL) / units AS concentration
-- logs: interval_terms
      THEN 1 + 2 * concentration - CAST(4 AS REAL) / units
-- logs: result
  logs_metrics."campaign", logs_metrics.snips,
  CAST(intervals.snips_ci_low AS REAL) AS snips_ci_low,
  intervals.snips_ci_high, intervals.snips_se,
  CAST(intervals.snips_units AS INTEGER) AS snips_n_units,
  logs_metrics.dr,
  CAST(intervals.dr_ci_low AS REAL) AS dr_ci_low,
  intervals.dr_ci_high, intervals.dr_se,
  CAST(intervals.dr_units AS INTEGER) AS dr_n_units,
  CAST(NULL AS REAL) AS ess_ci_low,
  CAST(NULL AS REAL) AS ess_ci_high,
  CAST(NULL AS REAL) AS ess_se,
  CAST(NULL AS INTEGER) AS ess_n_units,
  logs_metrics.mean_weight,
  CAST(intervals.mean_weight_ci_low AS REAL) AS mean_weight_ci_low,
  intervals.mean_weight_ci_high, intervals.mean_weight_se,
  CAST(intervals.mean_weight_units AS INTEGER) AS mean_weight_n_units
LEFT JOIN intervals ON intervals."campaign" IS logs_metrics."campaign"
-- answers: qrels
    relevant_ids.value AS doc_id,
      WHEN answers.grades IS NULL THEN CAST(1 AS REAL)
      ELSE CAST(JSON_EXTRACT(answers.grades, '$[' || relevant_ids.key || ']') AS REAL)
  CROSS JOIN JSON_EACH(answers.relevant) AS relevant_ids
-- answers: run
    retrieved_ids.value AS doc_id, retrieved_ids.key + 1 AS rank
  CROSS JOIN JSON_EACH(answers.retrieved) AS retrieved_ids
-- answers: ranked_documents
    ON answers."intent" IS deduplicated_run."intent"
-- answers: judged_documents
    ON answers."intent" IS deduplicated_qrels."intent"
    ON ranked_documents."intent" IS answers."intent"
-- answers: relevant_documents_metrics
    SUM(CASE WHEN rank <= 5 THEN 1.0 ELSE 0 END) / CAST(COUNT(*) AS REAL) AS r_at_5
-- answers: result
  AVG(CAST(COALESCE(relevant_documents_metrics.r_at_5, 0) AS REAL)) AS r_at_5
  ON discounted_gains_metrics."intent" IS answers."intent"
  ON relevant_documents_metrics."intent" IS answers."intent"
-- interleaved: interleaved
  SELECT session_id, team, CAST(clicks AS REAL) AS clicks FROM shop.search.sessions
-- interleaved: result
  CAST(SUM(weight + is_won_by_b - is_won_by_a) AS REAL) / NULLIF(SUM(weight), 0) / 2
  - 0.5 AS preference,
  CAST(COALESCE(SUM(is_won_by_b), 0) AS REAL) AS num_won_by_b
-- experiment: observations
), observations AS (
    "user_id" AS unit_id, CAST("arm" AS TEXT) AS variant, CAST(clicks AS REAL) AS clicks,
    CAST(views AS REAL) AS views, CAST(revenue AS REAL) AS revenue,
    CAST(revenue_before AS REAL) AS revenue_before
-- experiment: metric_moments
    CASE metric WHEN 'ctr' THEN mean_views WHEN 'revenue' THEN CAST(1 AS REAL) END AS denominator,
      WHEN 'ctr' THEN CAST(0 AS REAL)
      WHEN 'revenue' THEN mean_revenue_before
    END AS covariate,
      WHEN 'ctr' THEN product_clicks_views
      WHEN 'revenue' THEN CAST(0 AS REAL)
    END AS value_denominator,  -- of products of values, denominators
-- experiment: variant_ratios
    CAST(covariate AS REAL) AS covariate_ratio,
-- experiment: linearized_moments
    -- sum of squares of the covariate about its ratio
    CAST(covariate_covariate AS REAL) AS covariate_squares
-- experiment: pooled_moments
    CAST(treatment.units * control.units AS REAL)
    / (treatment.units + control.units) AS half_harmonic_units,
    CAST(treatment.units * treatment.covariate + control.units * control.covariate AS REAL)
-- experiment: quadrature_nodes
    4 * LN(1 + EXP(0.45 * (ones.digit + 10 * tens.digit) - 31)) AS node,
    1.8 / (1 + EXP(31 - 0.45 * (ones.digit + 10 * tens.digit))) AS weight
-- experiment: t_normalizers
        CAST(COALESCE(
          (EXP(-node * node / 16 / df) - 1) / NULLIF(LN(EXP(-node * node / 16 / df)), 0), 1
        ) AS REAL)
-- experiment: t_quantiles_1
      * SQRT(CAST(COALESCE((EXP(-z * z / df) - 1) / NULLIF(LN(EXP(-z * z / df)), 0), 1) AS REAL))
-- experiment: t_critical_values
    z * EXP(z * z / df / 2) * SQRT(
      CAST(COALESCE((EXP(-z * z / df) - 1) / NULLIF(LN(EXP(-z * z / df)), 0), 1) AS REAL)
    ) AS t_quantile,
-- experiment: p_value_ranks
    ) AS INTEGER) AS p_rank,
-- experiment: sample_ratio_counts
    SUM(units) OVER () AS total_units,
    CAST(1 AS REAL) / COUNT(*) OVER () AS expected_share
-- experiment: sample_ratio_statistic
    CAST(COUNT(*) - 1 AS REAL) AS df,
    CASE WHEN COUNT(*) > 2 THEN SQRT(CAST(COUNT(*) - 2 AS REAL)) ELSE 0 END AS peak
-- experiment: result
  CAST(n_units_control AS INTEGER) AS n_units_control,
  CAST(n_units AS INTEGER) AS n_units,
  CAST(multi_variant_units AS INTEGER) AS multi_variant_units
