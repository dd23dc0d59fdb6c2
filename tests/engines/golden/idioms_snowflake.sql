-- rankings: qrels
    "USER_ID" AS query_id, "ITEM_ID" AS doc_id,
    CAST("STARS" AS DOUBLE) + 0 AS relevance  -- + 0 makes -0.0 a 0.0
  WHERE "DAY" = '2026-01-01'
-- rankings: run
  -- One row per MODEL, query and retrieved document. (shop.eval.recommended)
    "MODEL",
    CAST("PREDICTED" AS DOUBLE) + 0 AS score  -- + 0 makes -0.0 a 0.0
-- rankings: queries
  SELECT "USER_ID" AS query_id, CAST("REVENUE" AS DOUBLE) AS weight FROM shop.eval.users
-- rankings: systems
  -- One row per MODEL.
  SELECT "MODEL" FROM run GROUP BY "MODEL"
-- rankings: selected_queries
  -- One row per MODEL and query to evaluate that the queries table has.
  SELECT systems."MODEL", query_ids.query_id
-- rankings: ranked_documents
  -- One row per MODEL, query and retrieved document, with its rank. (ranked_documents/in_order.sql)
    selected_queries."MODEL", selected_queries.query_id, run.doc_id,
      PARTITION BY selected_queries."MODEL", selected_queries.query_id
    ON selected_queries."MODEL" IS NOT DISTINCT FROM run."MODEL"
-- rankings: judged_documents
  -- One row per MODEL, query and judged document, retrieved or not. (judged_documents/by_join.sql)
    selected_queries."MODEL", selected_queries.query_id,
    ON ranked_documents."MODEL" IS NOT DISTINCT FROM selected_queries."MODEL"
-- rankings: ideal_ranking
  -- One row per MODEL, query and judged document of positive relevance. (ideal_ranking/judged.sql)
    "MODEL", query_id, relevance, rank,
    ROW_NUMBER() OVER (PARTITION BY "MODEL", query_id ORDER BY relevance DESC) AS ideal_rank
-- rankings: relevant_documents
  -- One row per MODEL, query and relevant document. (relevant_documents/at_hits.sql)
    "MODEL", query_id, rank,
    CAST(1 AS DOUBLE) / rank AS reciprocal_rank,
      PARTITION BY "MODEL", query_id ORDER BY CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank
-- rankings: discounted_gains_metrics
  -- One row per MODEL and query with a judged document of positive relevance.
    "MODEL", query_id,
    SUM(CASE
      WHEN rank <= 10 THEN relevance * (LN(CAST(2 AS DOUBLE)) / LN(CAST(rank + 1 AS DOUBLE)))
    END)
      SUM(CASE
        WHEN ideal_rank <= 10
        THEN relevance * (LN(CAST(2 AS DOUBLE)) / LN(CAST(ideal_rank + 1 AS DOUBLE)))
        ELSE 0
      END),
  GROUP BY "MODEL", query_id
-- rankings: relevant_documents_metrics
  -- One row per MODEL and query with a relevant document.
    SUM(CASE WHEN rank IS NOT NULL THEN CAST(cumulative_hits AS DOUBLE) / rank ELSE 0 END)
    / CAST(COUNT(*) AS DOUBLE) AS ap,
-- rankings: query_metrics
  -- One row per MODEL and query to evaluate.
    selected_queries."MODEL", queries.weight,
    ON discounted_gains_metrics."MODEL" IS NOT DISTINCT FROM selected_queries."MODEL"
    ON relevant_documents_metrics."MODEL" IS NOT DISTINCT FROM selected_queries."MODEL"
-- rankings: result
  "MODEL",
GROUP BY "MODEL"
ORDER BY "MODEL" NULLS FIRST;
-- predictions: predictions
    "CAMPAIGN",
    CAST("P_CLICK" AS DOUBLE) + 0 AS score,  -- + 0 makes -0.0 a 0.0
    CAST("CLICK" AS DOUBLE) + 0 AS label, CAST(1 / "PROPENSITY" AS DOUBLE) AS weight
-- predictions: score_class_weights
  -- One row per CAMPAIGN and distinct score. (score_class_weights/by_score.sql)
    "CAMPAIGN", score,
  GROUP BY "CAMPAIGN", score
-- predictions: score_thresholds
  -- One row per CAMPAIGN and distinct score, with sums over higher and lower scores.
    "CAMPAIGN", positives, negatives,
      SUM(positives) OVER (
        PARTITION BY "CAMPAIGN"
        ORDER BY score DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS positives_above,
      SUM(negatives) OVER (
    ) AS negatives_above,
        ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ) AS negatives_below,
    SUM(positives) OVER (PARTITION BY "CAMPAIGN") AS total_positives
-- predictions: positive_thresholds_metrics
  -- One row per CAMPAIGN with a positive.
  GROUP BY "CAMPAIGN"
-- predictions: predictions_metrics
  -- One row per CAMPAIGN.
        WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS DOUBLE)
        THEN CAST('2.220446049250313e-16' AS DOUBLE)
        WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS DOUBLE)
        THEN 1 - CAST('2.220446049250313e-16' AS DOUBLE)
-- predictions: result
  predictions_metrics."CAMPAIGN", positive_thresholds_metrics.auc, positive_thresholds_metrics.aps,
  ON positive_thresholds_metrics."CAMPAIGN" IS NOT DISTINCT FROM predictions_metrics."CAMPAIGN";
-- ndcg_ap: qrels
    CAST(relevance AS DOUBLE) + 0 AS relevance  -- + 0 makes -0.0 a 0.0
  FROM shop.eval.qrels
-- ndcg_ap: run
    CAST(score AS DOUBLE) + 0 AS score  -- + 0 makes -0.0 a 0.0
  FROM shop.eval.run
-- ndcg_ap: relevant_documents_metrics
    / CAST(COUNT(*) AS DOUBLE) AS ap
-- auc_logloss: predictions
    "CAMPAIGN", "DAY",
    CAST("CLICK" AS DOUBLE) + 0 AS label
-- auc_logloss: score_class_weights
  -- One row per CAMPAIGN, DAY and distinct score. (score_class_weights/by_score.sql)
    "CAMPAIGN", "DAY", score,
    SUM(CASE WHEN label = 1 THEN CAST(1.0 AS DOUBLE) ELSE 0 END) AS positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE CAST(1.0 AS DOUBLE) END) AS negatives
  GROUP BY "CAMPAIGN", "DAY", score
-- auc_logloss: score_thresholds
  -- One row per CAMPAIGN, DAY and distinct score, with sums over higher and lower scores.
    "CAMPAIGN", "DAY", positives, negatives,
        PARTITION BY "CAMPAIGN", "DAY"
    SUM(negatives) OVER (PARTITION BY "CAMPAIGN", "DAY")
    - COALESCE(
    ) - negatives AS negatives_below
-- auc_logloss: positive_thresholds_metrics
  -- One row per CAMPAIGN and DAY with a positive.
  GROUP BY "CAMPAIGN", "DAY"
-- auc_logloss: predictions_metrics
  -- One row per CAMPAIGN and DAY.
      WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS DOUBLE)
      THEN CAST('2.220446049250313e-16' AS DOUBLE)
      WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS DOUBLE)
      THEN 1 - CAST('2.220446049250313e-16' AS DOUBLE)
    END)) / CAST(COUNT(*) AS DOUBLE) AS log_loss
-- auc_logloss: result
  predictions_metrics."CAMPAIGN", predictions_metrics."DAY", positive_thresholds_metrics.auc,
  ON positive_thresholds_metrics."CAMPAIGN" IS NOT DISTINCT FROM predictions_metrics."CAMPAIGN"
  AND positive_thresholds_metrics."DAY" IS NOT DISTINCT FROM predictions_metrics."DAY"
ORDER BY predictions_metrics."CAMPAIGN" NULLS FIRST, predictions_metrics."DAY" NULLS FIRST;
-- kendalltau: digits
WITH digits AS (
  -- One row per digit.
  SELECT 0 AS digit UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
  UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9
-- kendalltau: predictions
), predictions AS (
    CAST(score AS DOUBLE) + 0 AS score,  -- + 0 makes -0.0 a 0.0
    CAST(label AS DOUBLE) + 0 AS label
-- kendalltau: block_sizes
      EXP((1 + ones.digit + 10 * tens.digit) * LN(CAST(2 AS DOUBLE))) + 0.5
    ) AS BIGINT) AS block_size  -- EXP is rounded to the power of two
  FROM digits AS ones
  CROSS JOIN digits AS tens
  WHERE 1 + ones.digit + 10 * tens.digit <= 40
-- kendalltau: label_blocks
      CAST(label_score_indexes.label_index + 1099511627776 AS DOUBLE) / block_sizes.block_size
      CAST(2 * (label_score_indexes.label_index + 1099511627776) AS DOUBLE)
      / block_sizes.block_size
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
-- roc: grid_positions
    -- weight of a positive, else 0
    CASE WHEN label = 1 THEN CAST(1.0 AS DOUBLE) ELSE 0 END AS positives,
    -- weight of a negative, else 0
    CASE WHEN label = 1 THEN 0 ELSE CAST(1.0 AS DOUBLE) END AS negatives,
-- roc: score_cells
    -- number of the grid cell of the score, ascending
    CAST(FLOOR(grid_position) AS BIGINT) AS cell,
-- roc: bucketed_scores
    ) AS BIGINT) AS bucket
-- roc: bucket_sums
    -- in higher buckets
        PARTITION BY constant_key
        ORDER BY bucket DESC
-- roc: score_sums
        PARTITION BY bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS bucket_positives_above,
    ) AS bucket_negatives_above
-- roc: curve_segments
      998 / CAST(4 AS DOUBLE) * (
        + COALESCE((negatives_above + negatives) / NULLIF(total_negatives, 0), 0)
        + CAST('1e-10' AS DOUBLE)
-- beyond: run
  FROM shop.eval.shown
-- beyond: recommended_items_metrics
    CAST(SUM(CASE WHEN group_catalog.doc_id IS NULL THEN 0 ELSE 1 END) AS DOUBLE)
-- together: predictions
    CAST(label AS DOUBLE) + 0 AS label,
    query_id, doc_id
-- together: qrels
  -- One row per MODEL, query and judged document.
  SELECT "MODEL", query_id, doc_id, label AS relevance
-- together: evaluated_queries
  -- One row per MODEL and query with judgments, even if nothing was retrieved.
  SELECT "MODEL", query_id FROM qrels GROUP BY "MODEL", query_id
-- together: ranked_documents
    evaluated_queries."MODEL", evaluated_queries.query_id, predictions.doc_id,
      PARTITION BY evaluated_queries."MODEL", evaluated_queries.query_id
    ON evaluated_queries."MODEL" IS NOT DISTINCT FROM predictions."MODEL"
-- together: ideal_ranking
    qrels."MODEL", qrels.query_id, qrels.relevance,
      PARTITION BY qrels."MODEL", qrels.query_id ORDER BY qrels.relevance DESC
    ON ranked_documents."MODEL" IS NOT DISTINCT FROM qrels."MODEL"
-- together: score_class_weights
  -- One row per MODEL and distinct score. (score_class_weights/by_score.sql)
    "MODEL", score,
  GROUP BY "MODEL", score
-- together: score_thresholds
  -- One row per MODEL and distinct score, with sums over higher and lower scores.
    "MODEL", positives, negatives,
        PARTITION BY "MODEL" ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    SUM(negatives) OVER (PARTITION BY "MODEL")
-- together: positive_thresholds_metrics
  -- One row per MODEL with a positive.
  GROUP BY "MODEL"
-- together: predictions_metrics
  SELECT "MODEL" FROM predictions GROUP BY "MODEL"
-- together: group_metrics
    evaluated_queries."MODEL",
    ON discounted_gains_metrics."MODEL" IS NOT DISTINCT FROM evaluated_queries."MODEL"
  GROUP BY evaluated_queries."MODEL"
-- together: result
SELECT predictions_metrics."MODEL", group_metrics.ndcg_at_10, positive_thresholds_metrics.auc
  ON positive_thresholds_metrics."MODEL" IS NOT DISTINCT FROM predictions_metrics."MODEL"
LEFT JOIN group_metrics ON group_metrics."MODEL" IS NOT DISTINCT FROM predictions_metrics."MODEL"
ORDER BY predictions_metrics."MODEL" NULLS FIRST;
-- logs: logs_metrics
    CAST(1 AS DOUBLE) / COUNT(*) AS dr_by_sum,  -- derivative of the metric by its sum
-- logs: unit_influence
    logs."CAMPAIGN",
  INNER JOIN logs_metrics ON logs_metrics."CAMPAIGN" IS NOT DISTINCT FROM logs."CAMPAIGN"
-- logs: influence_sums
  -- One row per CAMPAIGN: its number of independent units, and sums of powers of their influence on
-- logs: metric_sums
  -- One row per CAMPAIGN and metric: the same sums.
    influence_sums."CAMPAIGN", metric, units,
  INNER JOIN logs_metrics ON logs_metrics."CAMPAIGN" IS NOT DISTINCT FROM influence_sums."CAMPAIGN"
-- logs: standard_errors
  -- One row per CAMPAIGN and metric: its units, standard error, and terms of the interval.
    "CAMPAIGN", metric, value, units,
    fourth_powers / NULLIF(squares * squares, 0) - CAST(1 AS DOUBLE) / units AS concentration
-- logs: interval_terms
  -- One row per CAMPAIGN and metric: the metric, and terms of the variance for its interval.
    "CAMPAIGN", metric, value, units, se, df,
    (units - 1 + CAST(0.8999505931404055 AS DOUBLE))
    / NULLIF(units - 1 - CAST(1.5207788172066563 AS DOUBLE), 0) AS t_growth,
      THEN 1 + 2 * concentration - CAST(4 AS DOUBLE) / units
-- logs: margins
  -- One row per CAMPAIGN and metric: the margin, from which both limits follow.
    "CAMPAIGN", metric, value, units, se,
      WHEN se > CAST('1e-12' AS DOUBLE) * ABS(value)
        WHEN df = 1 THEN CAST(12.706204736174696 AS DOUBLE)
        WHEN df = 2 THEN CAST(4.30265272974946 AS DOUBLE)
        ELSE CAST(1.9599639845400536 AS DOUBLE) + CAST(2.37227122985838 AS DOUBLE) / df
        + CAST(2.8224987226224036 AS DOUBLE) / POWER(df, 2)
        + CAST(2.555842051278845 AS DOUBLE) / POWER(df, 3)
        + CAST(1.58978315186063 AS DOUBLE) / POWER(df, 4)
        + CAST(0.7284721002357477 AS DOUBLE) / POWER(df, 5)
        + CAST(0.6732174654619627 AS DOUBLE) / POWER(df, 6)
        - CAST(0.1380370249284715 AS DOUBLE) / POWER(df, 7)
        - CAST(1.093219426976424 AS DOUBLE) / POWER(df, 8)
        + CAST(4.192721092336624 AS DOUBLE) / POWER(df, 9)
        - CAST(5.569650865297036 AS DOUBLE) / POWER(df, 10)
        + CAST(2.8783930654182805 AS DOUBLE) / POWER(df, 11)
        se * se * inflation * (effective_df + CAST(0.8999505931404055 AS DOUBLE))
        / NULLIF(effective_df - CAST(1.5207788172066563 AS DOUBLE), 0) / NULLIF(t_growth, 0)
-- logs: interval_limits
  -- One row per CAMPAIGN and metric: limits of its interval.
    "CAMPAIGN", metric, units,
-- logs: intervals
  -- One row per CAMPAIGN: limits of intervals.
-- logs: result
  logs_metrics."CAMPAIGN", logs_metrics.snips, intervals.snips_ci_low, intervals.snips_ci_high,
LEFT JOIN intervals ON intervals."CAMPAIGN" IS NOT DISTINCT FROM logs_metrics."CAMPAIGN"
ORDER BY logs_metrics."CAMPAIGN" NULLS FIRST;
-- answers: answers
  -- One row per INTENT and query, with the lists of its retrieved and of its relevant documents.
    "INTENT", query_id,
    "RETRIEVED_IDS" AS retrieved, "GOLD_IDS" AS relevant, "GOLD_GRADES" AS grades
-- answers: qrels
  -- One row per INTENT, query and judged document.
    answers."INTENT", answers.query_id,
    CAST(relevant_ids.value AS VARCHAR) AS doc_id,
      ELSE CAST(GET(answers.grades, relevant_ids.index) AS DOUBLE)
    END + 0 AS relevance  -- + 0 makes -0.0 a 0.0
  CROSS JOIN LATERAL FLATTEN(INPUT => answers.relevant) AS relevant_ids
-- answers: deduplicated_qrels
  -- One row per INTENT, query and judged document, of judgments that may repeat it.
    "INTENT", query_id, doc_id,
  GROUP BY "INTENT", query_id, doc_id
-- answers: run
  -- One row per INTENT, query and retrieved document.
    CAST(retrieved_ids.value AS VARCHAR) AS doc_id, retrieved_ids.index + 1 AS rank
  CROSS JOIN LATERAL FLATTEN(INPUT => answers.retrieved) AS retrieved_ids
-- answers: deduplicated_run
  -- One row per INTENT, query and retrieved document, of a run that may repeat it.
-- answers: ranked_documents
  -- One row per INTENT, query and retrieved document, with its rank.
    answers."INTENT", answers.query_id, deduplicated_run.doc_id,
      PARTITION BY answers."INTENT", answers.query_id
    ON answers."INTENT" IS NOT DISTINCT FROM deduplicated_run."INTENT"
-- answers: judged_documents
  -- One row per INTENT, query and judged document, retrieved or not. (judged_documents/by_join.sql)
    ON answers."INTENT" IS NOT DISTINCT FROM deduplicated_qrels."INTENT"
    ON ranked_documents."INTENT" IS NOT DISTINCT FROM answers."INTENT"
-- answers: ideal_ranking
  -- One row per INTENT, query and judged document of positive relevance. (ideal_ranking/judged.sql)
    "INTENT", query_id, relevance, rank,
    ROW_NUMBER() OVER (PARTITION BY "INTENT", query_id ORDER BY relevance DESC) AS ideal_rank
-- answers: discounted_gains_metrics
  -- One row per INTENT and query with a judged document of positive relevance.
  GROUP BY "INTENT", query_id
-- answers: relevant_documents_metrics
  -- One row per INTENT and query with a relevant document.
    SUM(CASE WHEN rank <= 5 THEN CAST(1.0 AS DOUBLE) ELSE 0 END)
    / CAST(COUNT(*) AS DOUBLE) AS r_at_5
-- answers: result
  answers."INTENT",
  ON discounted_gains_metrics."INTENT" IS NOT DISTINCT FROM answers."INTENT"
  ON relevant_documents_metrics."INTENT" IS NOT DISTINCT FROM answers."INTENT"
GROUP BY answers."INTENT"
ORDER BY answers."INTENT" NULLS FIRST;
-- interleaved: result
  CAST(SUM(weight + is_won_by_b - is_won_by_a) AS DOUBLE) / NULLIF(SUM(weight), 0) / 2
  - 0.5 AS preference,
-- experiment: observations
), observations AS (
    "USER_ID" AS unit_id, CAST("ARM" AS VARCHAR) AS variant, CAST(clicks AS DOUBLE) AS clicks,
  WHERE "DAY" >= '2026-01-01'
-- experiment: raised_moments
      AND squares > CAST('1e-12' AS DOUBLE) * square_terms
      AND ABS(squares - units * ratio * (1 - ratio)) <= CAST('1e-9' AS DOUBLE) * squares
-- experiment: pooled_moments
    CAST(treatment.units * control.units AS DOUBLE)
    / (treatment.units + control.units) AS half_harmonic_units,
-- experiment: covariate_coefficients
      WHEN covariate_squares > CAST('1e-12' AS DOUBLE) * covariate_square_terms
      AND covariate_squares > CAST('1e-24' AS DOUBLE) * units * covariate_ratio * covariate_ratio
-- experiment: adjusted_moments
      WHEN squares > CAST('1e-12' AS DOUBLE) * square_terms
      AND squares > CAST('1e-24' AS DOUBLE) * units * ratio * ratio
-- experiment: variant_estimates
    -- NULL if squares are only rounding errors, as of equal units
      AND squares > CAST('1e-24' AS DOUBLE) * units * value * value
    END AS variance
-- experiment: effects
    (1 - CAST(0.95 AS DOUBLE)) / COUNT(*) OVER () AS alpha
-- experiment: quadrature_nodes
    4 * LN(1 + EXP(CAST(0.45 AS DOUBLE) * (ones.digit + 10 * tens.digit) - 31)) AS node,
    1.8 / (1 + EXP(31 - CAST(0.45 AS DOUBLE) * (ones.digit + 10 * tens.digit))) AS weight
-- experiment: t_requests
      WHEN 'test' THEN 1 - CAST(0.95 AS DOUBLE)
      WHEN 'power' THEN 2 - 2 * CAST(0.8 AS DOUBLE)
-- experiment: corrected_p_values
      END) OVER (ORDER BY p_rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
-- experiment: sample_ratio_counts
    SUM(units) OVER () AS total_units,
    CAST(1 AS DOUBLE) / COUNT(*) OVER () AS expected_share
-- experiment: sample_ratio_statistic
    CASE WHEN COUNT(*) > 2 THEN SQRT(CAST(COUNT(*) - 2 AS DOUBLE)) ELSE 0 END AS peak
-- experiment: results
      WHEN sample_ratio_test.p_value >= 0.001 AND p_adjusted < 1 - CAST(0.95 AS DOUBLE)
