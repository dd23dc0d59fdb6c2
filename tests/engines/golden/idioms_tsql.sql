-- rankings: qrels
  SELECT [user_id] AS query_id, [item_id] AS doc_id, CAST([stars] AS FLOAT) AS relevance
-- rankings: run
  SELECT [model], [user_id] AS query_id, [item_id] AS doc_id, CAST([predicted] AS FLOAT) AS score
-- rankings: queries
  SELECT [user_id] AS query_id, CAST([revenue] AS FLOAT) AS weight FROM shop.eval.users
-- rankings: relevant_documents
    CAST(1 AS FLOAT) / rank AS reciprocal_rank,
-- rankings: discounted_gains_metrics
    SUM(CASE
      WHEN rank <= 10 THEN relevance * (LOG(CAST(2 AS FLOAT)) / LOG(CAST(rank + 1 AS FLOAT)))
    END)
      SUM(CASE
        WHEN ideal_rank <= 10
        THEN relevance * (LOG(CAST(2 AS FLOAT)) / LOG(CAST(ideal_rank + 1 AS FLOAT)))
        ELSE 0
      END),
-- rankings: relevant_documents_metrics
    SUM(CASE WHEN rank IS NOT NULL THEN CAST(cumulative_hits AS FLOAT) / rank ELSE 0 END)
    / CAST(COUNT_BIG(*) AS FLOAT) AS ap,
-- predictions: predictions
    CAST([p_click] AS FLOAT) AS score, CAST([click] AS FLOAT) AS label,
    CAST(1 / [propensity] AS FLOAT) AS weight
-- predictions: threshold_segments
      SUM(positives) OVER (
        PARTITION BY [campaign]
        ORDER BY has_threshold, threshold DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS positives_above,
      SUM(negatives + negatives_between) OVER (
    ) AS negatives_above,
        ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ) AS negatives_below,
-- predictions: predictions_metrics
      weight * LOG(
        CASE
          WHEN ABS(score + (label - 1)) <= 2.220446049250313e-16 THEN 2.220446049250313e-16
          WHEN ABS(score + (label - 1)) >= 1 - 2.220446049250313e-16 THEN 1 - 2.220446049250313e-16
          ELSE ABS(score + (label - 1))
        END
-- predictions: result
SELECT *
INTO shop.ads.daily_metrics
FROM (
    predictions_metrics.[campaign], positive_thresholds_metrics.auc,
    positive_thresholds_metrics.aps, predictions_metrics.log_loss
  FROM predictions_metrics
  LEFT JOIN positive_thresholds_metrics
    ON positive_thresholds_metrics.[campaign] IS NOT DISTINCT FROM predictions_metrics.[campaign]
) AS temp;
-- ndcg_ap: qrels
  SELECT query_id, doc_id, CAST(relevance AS FLOAT) AS relevance FROM shop.eval.qrels
-- ndcg_ap: run
  SELECT query_id, doc_id, CAST(score AS FLOAT) AS score FROM shop.eval.run
-- ndcg_ap: relevant_documents_metrics
    / CAST(COUNT_BIG(*) AS FLOAT) AS ap
-- auc_logloss: predictions
  SELECT [campaign], [day], CAST([p_click] AS FLOAT) AS score, CAST([click] AS FLOAT) AS label
-- auc_logloss: predictions_metrics
    COUNT_BIG(*) AS total_rows,
    -SUM(LOG(
      CASE
    )) / CAST(COUNT_BIG(*) AS FLOAT) AS log_loss
-- auc_logloss: positive_ranks
    COUNT_BIG(*) AS positives,
-- auc_logloss: rank_counts
    SUM(CAST(positive_ranks.positives AS BIGINT)) OVER (
-- kendalltau: digits
WITH digits AS (
  -- One row per digit.
  SELECT 0 AS digit UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
  UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9
-- kendalltau: predictions
), predictions AS (
  SELECT CAST(score AS FLOAT) AS score, CAST(label AS FLOAT) AS label FROM shop.eval.pairs
-- kendalltau: label_score_weights
  SELECT label, score, CAST(COUNT_BIG(*) AS FLOAT) AS weight
-- kendalltau: block_sizes
      EXP((1 + ones.digit + 10 * tens.digit) * LOG(CAST(2 AS FLOAT))) + 0.5
    ) AS BIGINT) AS block_size  -- EXP is rounded to the power of two
  FROM digits AS ones
  CROSS JOIN digits AS tens
  WHERE 1 + ones.digit + 10 * tens.digit <= 40
-- kendalltau: label_blocks
      CAST(label_score_indexes.label_index + 1099511627776 AS FLOAT) / block_sizes.block_size
      CAST(2 * (label_score_indexes.label_index + 1099511627776) AS FLOAT) / block_sizes.block_size
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
-- roc: predictions
  SELECT CAST(score AS FLOAT) AS score, CAST(label AS FLOAT) AS label
-- roc: score_class_weights
  -- One row per distinct score. (score_class_weights/by_score.sql)
    SUM(CASE WHEN label = 1 THEN 1e0 ELSE 0 END) AS positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE 1e0 END) AS negatives
-- roc: score_thresholds
      SUM(positives) OVER (ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0
      SUM(negatives) OVER (ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0
-- roc: curve_segments
      998 / CAST(4 AS FLOAT) * (
-- roc: roc
    0 AS point, CAST(NULL AS FLOAT) AS threshold,
-- beyond: run
  SELECT query_id, doc_id, CAST(score AS FLOAT) AS score FROM shop.eval.shown
-- beyond: ranked_documents
    COUNT_BIG(*) OVER (PARTITION BY query_id) AS list_length
-- beyond: weighted_recommendations
    1 / SQRT(CAST(LEAST(list_length, 10) AS FLOAT)) AS inverse_norm  -- of its documents, at most 10
-- beyond: recommendation_counts
      CAST(CASE WHEN weighted_recommendations.rank = 1 THEN 1 ELSE 0 END AS BIGINT)
    ) AS num_first_ranks  -- lists that have the document at rank 1
-- beyond: catalog_sizes
  SELECT COUNT_BIG(*) AS catalog_size FROM group_catalog
-- beyond: recommended_items_metrics
    CAST(SUM(CAST(CASE WHEN group_catalog.doc_id IS NULL THEN 0 ELSE 1 END AS BIGINT)) AS FLOAT)
-- beyond: recommendation_counts_metrics
    - SUM(norm_sum * norm_sum - norm_square_sum) / NULLIF(
      SUM(CAST(num_first_ranks AS BIGINT)) * (SUM(CAST(num_first_ranks AS BIGINT)) - 1), 0
    ) AS personalization_at_10
-- together: predictions
  SELECT [model], CAST(score AS FLOAT) AS score, CAST(label AS FLOAT) AS label, query_id, doc_id
-- together: group_sizes
  SELECT [model], COUNT_BIG(*) AS total_rows FROM predictions GROUP BY [model]
-- together: result
ORDER BY group_sizes.[model];
-- logs: logs
    CAST(reward AS FLOAT) AS reward, CAST(propensity AS FLOAT) AS propensity,
    CAST(target_propensity AS FLOAT) AS target_propensity,
    CAST(predicted_reward AS FLOAT) AS predicted_reward,
    CAST(expected_reward AS FLOAT) AS expected_reward
-- logs: logs_metrics
    / COUNT_BIG(*) AS dr,
    SUM(target_propensity / NULLIF(propensity, 0)) / COUNT_BIG(*) AS mean_weight,
    CAST(1 AS FLOAT) / COUNT_BIG(*) AS dr_by_sum,  -- derivative of the metric by its sum
        ) / COUNT_BIG(*)
    ) / COUNT_BIG(*) AS dr_by_rows,
    (-(SUM(target_propensity / NULLIF(propensity, 0)) / COUNT_BIG(*)))
    / COUNT_BIG(*) AS mean_weight_by_rows  -- derivative of the metric by its number of rows
-- logs: standard_errors
    fourth_powers / NULLIF(squares * squares, 0) - CAST(1 AS FLOAT) / units AS concentration
-- logs: interval_terms
      THEN 1 + 2 * concentration - CAST(4 AS FLOAT) / units
-- logs: result
  CAST(NULL AS FLOAT) AS ess_ci_low,
  CAST(NULL AS FLOAT) AS ess_ci_high,
  CAST(NULL AS FLOAT) AS ess_se,
-- interleaved: interleaved
  SELECT session_id, team, CAST(clicks AS FLOAT) AS clicks FROM shop.search.sessions
-- interleaved: result
  CAST(SUM(CAST(weight + is_won_by_b - is_won_by_a AS BIGINT)) AS FLOAT)
  / NULLIF(SUM(CAST(weight AS BIGINT)), 0) / 2
  - 0.5 AS preference,
  CAST(COALESCE(SUM(CAST(is_won_by_b AS BIGINT)), 0) AS FLOAT) AS num_won_by_b
-- experiment: observations
), observations AS (
    [user_id] AS unit_id, CAST([arm] AS NVARCHAR(4000)) AS variant, CAST(clicks AS FLOAT) AS clicks,
    CAST(views AS FLOAT) AS views, CAST(revenue AS FLOAT) AS revenue,
    CAST(revenue_before AS FLOAT) AS revenue_before
-- experiment: variant_means
    COUNT_BIG(*) AS units,
    SUM(CAST(SUM(CASE WHEN variant <> last_variant THEN 1 ELSE 0 END) AS BIGINT)) OVER (
      
    ) AS multi_variant_units,  -- of all variants
    COUNT_BIG(revenue_before) AS revenue_before_count  -- units that have it
-- experiment: variant_summaries
      / NULLIF(
        SUM(CAST(CASE WHEN variant IS NOT NULL THEN revenue_before_count END AS BIGINT)) OVER (), 0
-- experiment: linearized_moments
    / SUM(CAST(units AS BIGINT)) OVER (PARTITION BY metric) AS overall_ratio,  -- of all variants
-- experiment: pooled_moments
    CAST(treatment.units * control.units AS FLOAT)
    / (treatment.units + control.units) AS half_harmonic_units,
-- experiment: quadrature_nodes
    4 * LOG(1 + EXP(0.45e0 * (ones.digit + 10 * tens.digit) - 31)) AS node,
    1.8 / (1 + EXP(31 - 0.45e0 * (ones.digit + 10 * tens.digit))) AS weight
-- experiment: t_normalizers
    SQRT(-2 * LOG(alpha / 2)) AS z_bound,  -- above the normal quantile, for its approximation
          (EXP(-node * node / 16 / df) - 1) / NULLIF(LOG(EXP(-node * node / 16 / df)), 0), 1
-- experiment: t_first_guesses
          LOG(1 + t_squared_by_df) * t_squared_by_df / NULLIF(1 + t_squared_by_df - 1, 0),
-- experiment: t_integrals_1
          / NULLIF(LOG(EXP(-(z + node / (4 + z)) * (z + node / (4 + z)) / df)), 0),
-- experiment: t_quantiles_1
      + (LOG(tail / normalizer / alpha) - z * z / 2) * tail
      * SQRT(COALESCE((EXP(-z * z / df) - 1) / NULLIF(LOG(EXP(-z * z / df)), 0), 1))
-- experiment: t_quantiles_3
    LOG(tail / normalizer) - z * z / 2 AS log_p,
-- experiment: t_critical_values
    * SQRT(COALESCE((EXP(-z * z / df) - 1) / NULLIF(LOG(EXP(-z * z / df)), 0), 1)) AS t_quantile,
-- experiment: p_value_ranks
    COUNT_BIG(p_value) OVER () AS num_tests
-- experiment: corrected_p_values
      END) OVER (ORDER BY p_rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
-- experiment: sample_ratio_counts
    SUM(CAST(units AS BIGINT)) OVER () AS total_units,
    CAST(1 AS FLOAT) / COUNT(*) OVER () AS expected_share
-- experiment: sample_ratio_statistic
    CAST(COUNT(*) - 1 AS FLOAT) AS df,
    CASE WHEN COUNT(*) > 2 THEN SQRT(CAST(COUNT(*) - 2 AS FLOAT)) ELSE 0 END AS peak
-- experiment: chi_square_densities
    CASE WHEN df > 1 THEN (df - 1) * LOG(z / NULLIF(peak, 0)) ELSE 0 END
