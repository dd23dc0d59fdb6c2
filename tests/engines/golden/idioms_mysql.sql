-- rankings: ranked_documents
    ) AS `rank`  -- position in the list, from 1
    ON selected_queries.`model` <=> run.`model` AND selected_queries.query_id = run.query_id
-- rankings: judged_documents
    ranked_documents.`rank`  -- NULL if not retrieved
    ON ranked_documents.`model` <=> selected_queries.`model`
-- rankings: ideal_ranking
    `model`, query_id, relevance, `rank`,
-- rankings: relevant_documents
    `model`, query_id, `rank`,
    CAST(1 AS DOUBLE) / `rank` AS reciprocal_rank,
      PARTITION BY `model`, query_id ORDER BY CASE WHEN `rank` IS NULL THEN 1 ELSE 0 END, `rank`
-- rankings: discounted_gains_metrics
    SUM(CASE
      WHEN `rank` <= 10 THEN relevance * (LN(CAST(2 AS DOUBLE)) / LN(CAST(`rank` + 1 AS DOUBLE)))
    END)
      SUM(CASE
        WHEN ideal_rank <= 10
        THEN relevance * (LN(CAST(2 AS DOUBLE)) / LN(CAST(ideal_rank + 1 AS DOUBLE)))
        ELSE 0
      END),
-- rankings: relevant_documents_metrics
    SUM(CASE WHEN `rank` IS NOT NULL THEN CAST(cumulative_hits AS DOUBLE) / `rank` ELSE 0 END)
    / CAST(COUNT(*) AS DOUBLE) AS ap,
    MAX(CASE WHEN `rank` IS NOT NULL THEN reciprocal_rank ELSE 0 END) AS rr
-- rankings: query_metrics
    ON discounted_gains_metrics.`model` <=> selected_queries.`model`
    ON relevant_documents_metrics.`model` <=> selected_queries.`model`
-- predictions: result
CREATE TABLE shop.ads.daily_metrics AS
  ON positive_thresholds_metrics.`campaign` <=> predictions_metrics.`campaign`;
-- ndcg_ap: ideal_ranking
    query_id, relevance, `rank`,
-- ndcg_ap: relevant_documents
    query_id, `rank`,
      PARTITION BY query_id ORDER BY CASE WHEN `rank` IS NULL THEN 1 ELSE 0 END, `rank`
-- ndcg_ap: relevant_documents_metrics
    / CAST(COUNT(*) AS DOUBLE) AS ap
-- auc_logloss: predictions_metrics
    END)) / CAST(COUNT(*) AS DOUBLE) AS log_loss
-- auc_logloss: prediction_ranks
    RANK() OVER (PARTITION BY `campaign`, `day` ORDER BY score DESC) AS `rank`,
-- auc_logloss: positive_ranks
    MAX(`rank`) - 1 AS rows_above,  -- predictions of higher scores
-- auc_logloss: rank_counts
    ON predictions_metrics.`campaign` <=> positive_ranks.`campaign`
    AND predictions_metrics.`day` <=> positive_ranks.`day`
-- auc_logloss: positive_thresholds_metrics
    SUM(positives * (negatives_below + 0.5e0 * negatives)) / NULLIF(
      SUM(positives * (negatives_below + 0.5e0 * negatives))
      + SUM(positives * (negatives_above + 0.5e0 * negatives)),
-- auc_logloss: result
  ON positive_thresholds_metrics.`campaign` <=> predictions_metrics.`campaign`
  AND positive_thresholds_metrics.`day` <=> predictions_metrics.`day`
-- kendalltau: digits
WITH digits AS (
  -- One row per digit.
  SELECT 0 AS digit UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
  UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9
-- kendalltau: predictions
), predictions AS (
-- kendalltau: block_sizes
      EXP((1 + ones.digit + 10 * tens.digit) * LN(CAST(2 AS DOUBLE))) + 0.5
    ) AS SIGNED) AS block_size  -- EXP is rounded to the power of two
  FROM digits AS ones
  CROSS JOIN digits AS tens
  WHERE 1 + ones.digit + 10 * tens.digit <= 40
-- kendalltau: label_blocks
      CAST(label_score_indexes.label_index + 1099511627776 AS DOUBLE) / block_sizes.block_size
    ) AS SIGNED) AS block,  -- number of the block; + 2^40 keeps block sizes apart
      CAST(2 * (label_score_indexes.label_index + 1099511627776) AS DOUBLE)
      / block_sizes.block_size
    ) AS SIGNED) AS half_block  -- half of the block: 2 * block is the lower one
-- roc: score_class_weights
  -- One row per distinct score. (score_class_weights/by_score.sql)
    SUM(CASE WHEN label = 1 THEN 1e0 ELSE 0 END) AS positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE 1e0 END) AS negatives
-- roc: curve_segments
      998 / CAST(4 AS DOUBLE) * (
    ) AS SIGNED) AS segment
-- roc: result
SELECT CAST(point AS SIGNED) AS point, threshold, fpr, tpr
-- beyond: ranked_documents
    ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY score DESC, doc_id DESC) AS `rank`,
-- beyond: weighted_recommendations
    doc_id, query_id, `rank`,
  WHERE `rank` <= 10
-- beyond: recommendation_counts
    SUM(CASE WHEN weighted_recommendations.`rank` = 1 THEN 1 ELSE 0 END) AS num_first_ranks
-- beyond: recommended_items_metrics
    CAST(SUM(CASE WHEN group_catalog.doc_id IS NULL THEN 0 ELSE 1 END) AS DOUBLE)
-- together: ranked_documents
    ON evaluated_queries.`model` <=> predictions.`model`
-- together: ideal_ranking
    ranked_documents.`rank`,  -- NULL if not retrieved
    ON ranked_documents.`model` <=> qrels.`model`
-- together: prediction_ranks
    RANK() OVER (PARTITION BY `model` ORDER BY score DESC) AS `rank`,
-- together: rank_counts
  INNER JOIN group_sizes ON group_sizes.`model` <=> positive_ranks.`model`
-- together: group_metrics
    ON discounted_gains_metrics.`model` <=> evaluated_queries.`model`
-- together: result
LEFT JOIN positive_thresholds_metrics ON positive_thresholds_metrics.`model` <=> group_sizes.`model`
LEFT JOIN group_metrics ON group_metrics.`model` <=> group_sizes.`model`
ORDER BY group_sizes.`model`;
-- logs: logs_metrics
    CAST(1 AS DOUBLE) / COUNT(*) AS dr_by_sum,  -- derivative of the metric by its sum
-- logs: unit_influence
  INNER JOIN logs_metrics ON logs_metrics.`campaign` <=> logs.`campaign`
-- logs: metric_sums
  INNER JOIN logs_metrics ON logs_metrics.`campaign` <=> influence_sums.`campaign`
-- logs: standard_errors
    fourth_powers / NULLIF(squares * squares, 0) - CAST(1 AS DOUBLE) / units AS concentration
-- logs: interval_terms
      THEN 1 + 2 * concentration - CAST(4 AS DOUBLE) / units
-- logs: result
  CAST(intervals.snips_units AS SIGNED) AS snips_n_units,
  CAST(intervals.dr_units AS SIGNED) AS dr_n_units,
  CAST(NULL AS SIGNED) AS ess_n_units,
  CAST(intervals.mean_weight_units AS SIGNED) AS mean_weight_n_units
LEFT JOIN intervals ON intervals.`campaign` <=> logs_metrics.`campaign`
-- interleaved: result
  CAST(SUM(weight + is_won_by_b - is_won_by_a) AS DOUBLE) / NULLIF(SUM(weight), 0) / 2
  - 0.5 AS preference,
-- experiment: observations
), observations AS (
    `user_id` AS unit_id, CAST(`arm` AS CHAR) AS variant, CAST(clicks AS DOUBLE) AS clicks,
-- experiment: pooled_moments
    CAST(treatment.units * control.units AS DOUBLE)
    / (treatment.units + control.units) AS half_harmonic_units,
-- experiment: quadrature_nodes
    4 * LN(1 + EXP(0.45e0 * (ones.digit + 10 * tens.digit) - 31)) AS node,
    1.8 / (1 + EXP(31 - 0.45e0 * (ones.digit + 10 * tens.digit))) AS weight
-- experiment: p_value_ranks
    ) AS SIGNED) AS p_rank,
-- experiment: sample_ratio_counts
    SUM(units) OVER () AS total_units,
    CAST(1 AS DOUBLE) / COUNT(*) OVER () AS expected_share
-- experiment: sample_ratio_statistic
    CASE WHEN COUNT(*) > 2 THEN SQRT(CAST(COUNT(*) - 2 AS DOUBLE)) ELSE 0 END AS peak
-- experiment: result
  CAST(n_units_control AS SIGNED) AS n_units_control,
  CAST(n_units AS SIGNED) AS n_units,
  CAST(multi_variant_units AS SIGNED) AS multi_variant_units
