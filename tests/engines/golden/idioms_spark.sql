-- rankings: document_arrays
), document_arrays AS (
  -- One row per model and query of the run.
    -- sorted from the highest score
    SORT_ARRAY(COLLECT_LIST(STRUCT(score AS score, doc_id AS doc_id)), FALSE).doc_id AS documents
-- rankings: judged_documents
  -- One row per model, query and judged document, retrieved or not. (judged_documents/by_array.sql)
  -- RAND makes Spark compute this once: deterministic CTEs are repeated for each reader.
  SELECT /*+ REPARTITION(`model`, query_id) */
    ELEMENT_AT(ARRAY(`model`), 1) AS `model`, ELEMENT_AT(ARRAY(query_id), 1) AS query_id,
    relevance, rank
  FROM (
    SELECT
      selected_queries.`model`, selected_queries.query_id, qrels.relevance,
      -- NULL if not retrieved
      NULLIF(ARRAY_POSITION(document_arrays.documents, qrels.doc_id), 0) AS rank
    FROM qrels
    INNER JOIN selected_queries ON selected_queries.query_id = qrels.query_id
    LEFT JOIN document_arrays
      ON document_arrays.`model` IS NOT DISTINCT FROM selected_queries.`model`
      AND document_arrays.query_id = selected_queries.query_id
  ) AS once
  WHERE RAND() >= 0
-- rankings: relevant_documents_metrics
      SUM(CASE WHEN rank IS NOT NULL THEN cumulative_hits / rank ELSE 0 END) / COUNT(*), 0
    ) AS ap,
-- predictions: result
CREATE TABLE shop.ads.daily_metrics AS
-- ndcg_ap: document_arrays
  -- One row per query of the run.
-- ndcg_ap: judged_documents
  -- One row per query and judged document, retrieved or not. (judged_documents/by_array.sql)
  SELECT /*+ REPARTITION(query_id) */ ELEMENT_AT(ARRAY(query_id), 1) AS query_id, relevance, rank
      qrels.query_id, qrels.relevance,
    LEFT JOIN document_arrays ON document_arrays.query_id = qrels.query_id
-- ndcg_ap: relevant_documents_metrics
    ) AS ap
-- auc_logloss: score_class_weights
    SUM(CASE WHEN label = 1 THEN 1e0 ELSE 0 END) AS positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE 1e0 END) AS negatives
-- kendalltau: dense_indexes_rows
), dense_indexes_rows AS (
  -- Rows with buckets of the values that they are sorted by.
  SELECT *
      SIGN(score) * RINT(4096 * SQRT(SQRT(SQRT(ABS(score)))))
      + SIGN(score - 1) * RINT(4096 * SQRT(SQRT(SQRT(ABS(score - 1))))) AS score_bucket,
      SIGN(label) * RINT(4096 * SQRT(SQRT(SQRT(ABS(label)))))
      + SIGN(label - 1) * RINT(4096 * SQRT(SQRT(SQRT(ABS(label - 1))))) AS label_bucket,
      weight, score, label
    FROM label_score_weights
-- kendalltau: dense_indexes_buckets
), dense_indexes_buckets AS (
  -- One row per bucket: sums over the buckets before it.
    score_bucket,
    SUM(COUNT(DISTINCT score)) OVER (
      PARTITION BY MIN(score_bucket) IS NULL
      ORDER BY score_bucket
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS score_index_before
  FROM dense_indexes_rows
  GROUP BY score_bucket
-- kendalltau: dense_indexes_buckets_2
), dense_indexes_buckets_2 AS (
    label_bucket,
    SUM(COUNT(DISTINCT label)) OVER (
      PARTITION BY MIN(label_bucket) IS NULL
      ORDER BY label_bucket
    ) AS label_index_before
  GROUP BY label_bucket
-- kendalltau: dense_indexes
      weight,
      COALESCE(score_index_before, 0)
      + DENSE_RANK() OVER (PARTITION BY score_bucket ORDER BY score) - 1 AS score_index,
      COALESCE(label_index_before, 0)
      + DENSE_RANK() OVER (PARTITION BY label_bucket ORDER BY label) - 1 AS label_index
    FROM dense_indexes_rows
    INNER JOIN dense_indexes_buckets
      USING (score_bucket)
    INNER JOIN dense_indexes_buckets_2
      USING (label_bucket)
-- kendalltau: dense_indexes_totals
), dense_indexes_totals AS (
  -- One row: aggregates of all rows.
  SELECT MAX(label_index) AS greatest_label_index FROM dense_indexes
-- kendalltau: label_score_indexes
    dense_indexes.weight,  -- of the predictions of this label and score
    dense_indexes.score_index,  -- number of the score, ascending from 0
    dense_indexes.label_index,  -- number of the label, ascending from 0
    1 + dense_indexes_totals.greatest_label_index AS num_labels  -- number of distinct labels
  CROSS JOIN dense_indexes_totals
-- kendalltau: block_sizes
  FROM EXPLODE(SEQUENCE(1, 40)) AS series(number)
-- kendalltau: cumulative_halves_rows
), cumulative_halves_rows AS (
      block,
      SIGN(score_index) * RINT(4096 * SQRT(SQRT(SQRT(ABS(score_index)))))
      + SIGN(score_index - 1)
      * RINT(4096 * SQRT(SQRT(SQRT(ABS(score_index - 1))))) AS score_index_bucket,
      upper_weight, lower_weight, score_index
    FROM block_halves
-- kendalltau: cumulative_halves_buckets
), cumulative_halves_buckets AS (
    block, score_index_bucket,
    SUM(SUM(lower_weight)) OVER preceding_rows AS lower_before_before,
    SUM(SUM(upper_weight)) OVER preceding_rows AS upper_before_before
  FROM cumulative_halves_rows
  GROUP BY block, score_index_bucket
    PARTITION BY block ORDER BY score_index_bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
-- kendalltau: cumulative_halves
    -- at lower scores
      lower_before_before + SUM(lower_weight) OVER preceding_rows,
      lower_before_before,
      SUM(lower_weight) OVER preceding_rows,
    ) AS lower_before,
      upper_before_before + SUM(upper_weight) OVER preceding_rows,
      upper_before_before,
      SUM(upper_weight) OVER preceding_rows,
    ) AS upper_before
  INNER JOIN cumulative_halves_buckets
    USING (block, score_index_bucket)
    PARTITION BY block, score_index_bucket
    ORDER BY score_index
-- kendalltau: bitwise_counted_pairs_rows
), bitwise_counted_pairs_rows AS (
      score_index,
      SIGN(label_index) * RINT(4096 * SQRT(SQRT(SQRT(ABS(label_index)))))
      + SIGN(label_index - 1)
      * RINT(4096 * SQRT(SQRT(SQRT(ABS(label_index - 1))))) AS label_index_bucket,
      label_index,
    FROM label_score_indexes
-- kendalltau: bitwise_counted_pairs_buckets
), bitwise_counted_pairs_buckets AS (
    score_index, label_index_bucket,
    SUM(SUM(weight)) OVER (
      PARTITION BY score_index
      ORDER BY label_index_bucket
    ) AS score_ties_before
  FROM bitwise_counted_pairs_rows
  GROUP BY score_index, label_index_bucket
-- kendalltau: bitwise_counted_pairs_buckets_2
), bitwise_counted_pairs_buckets_2 AS (
    label_index, score_index_bucket,
      PARTITION BY label_index
      ORDER BY score_index_bucket
    ) AS label_ties_before
  GROUP BY label_index, score_index_bucket
-- kendalltau: bitwise_counted_pairs
    weight * COALESCE(
      score_ties_before + SUM(weight) OVER preceding_rows_by_label_index,
      score_ties_before,
      SUM(weight) OVER preceding_rows_by_label_index,
    ) AS score_ties,
      label_ties_before + SUM(weight) OVER preceding_rows_by_score_index,
      label_ties_before,
      SUM(weight) OVER preceding_rows_by_score_index,
    ) AS label_ties
  INNER JOIN bitwise_counted_pairs_buckets
    USING (score_index, label_index_bucket)
  INNER JOIN bitwise_counted_pairs_buckets_2
    USING (label_index, score_index_bucket)
    PARTITION BY score_index, label_index_bucket
    ORDER BY label_index
    PARTITION BY label_index, score_index_bucket
-- roc: grid_positions
  -- One row per distinct score, with its place on a grid: the whole part is its cell, so that each
  -- is sorted on its own.
    SUM(CASE WHEN label = 1 THEN 0 ELSE 1e0 END) AS negatives,
    COUNT(*) AS num_rows,  -- predictions of this score
-- roc: score_cells
  -- One row per distinct score. (score_cells.sql)
      score, positives, negatives, num_rows,
      -- number of the grid cell of the score, ascending
      CAST(FLOOR(grid_position) AS BIGINT) AS cell,
      grid_position - FLOOR(grid_position) AS cell_offset  -- position in the cell, from 0 to 1
    FROM grid_positions
-- roc: cell_means
    SUM(num_rows) AS num_rows
-- roc: bucketed_scores
  -- One row per distinct score, with its bucket, a cell of the grid or part of a crowded one.
  -- Buckets only split the sort: metrics stay exact. A cell has 131072 numbers: 0 if whole, 1 to
  -- 131071 for parts if crowded. (bucketed_scores.sql)
    ) AS BIGINT) AS bucket
-- roc: threshold_points_rows
), threshold_points_rows AS (
      score, total_positives, total_negatives, tp, fp
    FROM segment_ranks
    WHERE rank_from_start = 1 OR rank_from_end = 1
-- roc: threshold_points_buckets
), threshold_points_buckets AS (
    SUM(COUNT(*)) OVER (
      ORDER BY score_bucket DESC
    ) AS point_before,
    LEAD(MAX_BY(score, score)) OVER (
      PARTITION BY MIN(score_bucket) IS NULL ORDER BY score_bucket DESC
    ) AS next_score_before
  FROM threshold_points_rows
-- roc: threshold_points
    COALESCE(point_before, 0)
    + ROW_NUMBER() OVER (PARTITION BY score_bucket ORDER BY score DESC) AS point,
    LEAD(score, 1, next_score_before) OVER (
      PARTITION BY score_bucket ORDER BY score DESC
    ) AS next_score
  INNER JOIN threshold_points_buckets
    USING (score_bucket)
-- together: documents_with_gain
), documents_with_gain AS (
  -- One row per model, query and document of positive relevance. (documents_with_gain.sql)
    NULLIF(ARRAY_POSITION(document_arrays.documents, qrels.doc_id), 0) AS rank
  LEFT JOIN document_arrays
    ON document_arrays.`model` IS NOT DISTINCT FROM qrels.`model`
    AND document_arrays.query_id = qrels.query_id
-- together: ideal_ranking
  FROM documents_with_gain
-- answers: qrels
      WHEN grades IS NULL THEN 1
      ELSE CAST(GET(grades, list_position) AS DOUBLE)
  LATERAL VIEW
  POSEXPLODE(relevant) relevant_ids AS list_position, doc_id
-- answers: run
  SELECT `intent`, query_id, doc_id, list_position + 1 AS rank
  POSEXPLODE(retrieved) retrieved_ids AS list_position, doc_id
-- answers: judged_documents
  SELECT /*+ REPARTITION(`intent`, query_id) */
    ELEMENT_AT(ARRAY(`intent`), 1) AS `intent`, ELEMENT_AT(ARRAY(query_id), 1) AS query_id,
      answers.`intent`, answers.query_id,
      deduplicated_qrels.relevance,  -- grade; negative if selected for judging, but never judged
      ranked_documents.rank  -- NULL if not retrieved
    FROM deduplicated_qrels
    INNER JOIN answers
      ON answers.`intent` IS NOT DISTINCT FROM deduplicated_qrels.`intent`
      AND answers.query_id = deduplicated_qrels.query_id
    LEFT JOIN ranked_documents
      ON ranked_documents.`intent` IS NOT DISTINCT FROM answers.`intent`
      AND ranked_documents.query_id = answers.query_id
      AND ranked_documents.doc_id = deduplicated_qrels.doc_id
-- experiment: observations
    `user_id` AS unit_id, CAST(`arm` AS STRING) AS variant, CAST(clicks AS DOUBLE) AS clicks,
-- experiment: experiment_units
      MIN(variant) AS variant,
      MAX(variant) AS last_variant,  -- another one if the unit was in several variants
      SUM(clicks) AS clicks, SUM(views) AS views, SUM(revenue) AS revenue,
      SUM(revenue_before) AS revenue_before
    FROM observations
    GROUP BY unit_id
-- experiment: experiment_units_totals
), experiment_units_totals AS (
  SELECT SUM(CASE WHEN variant <> last_variant THEN 1 ELSE 0 END) AS multi_variant_units
-- experiment: variant_means
      CASE
        WHEN experiment_units.variant = experiment_units.last_variant THEN experiment_units.variant
      END AS variant,  -- NULL if the unit was in several variants
      COUNT(*) AS units,
      MAX(experiment_units_totals.multi_variant_units) AS multi_variant_units,  -- of all variants
      AVG(experiment_units.clicks) AS variant_mean_clicks,
      AVG(experiment_units.views) AS variant_mean_views,
      AVG(experiment_units.revenue) AS variant_mean_revenue,
      AVG(experiment_units.revenue_before) AS variant_mean_revenue_before,
      COUNT(experiment_units.revenue_before) AS revenue_before_count  -- units that have it
    FROM experiment_units
    CROSS JOIN experiment_units_totals
    GROUP BY
-- experiment: variant_means_totals
), variant_means_totals AS (
      CASE WHEN variant IS NOT NULL THEN revenue_before_count * variant_mean_revenue_before END
    ) AS total_revenue_before_overall_mean,
      CASE WHEN variant IS NOT NULL THEN revenue_before_count END
    ) AS total_revenue_before_overall_mean_2
-- experiment: variant_summaries
    variant_means.variant, variant_means.units, variant_means.multi_variant_units,
    variant_means.variant_mean_clicks, variant_means.variant_mean_views,
    variant_means.variant_mean_revenue, variant_means.variant_mean_revenue_before,
    variant_means.revenue_before_count,
      variant_means_totals.total_revenue_before_overall_mean
      / NULLIF(variant_means_totals.total_revenue_before_overall_mean_2, 0),
  CROSS JOIN variant_means_totals
-- experiment: metric_moments
      metric, variant, units, multi_variant_units,
      CASE metric WHEN 'ctr' THEN mean_clicks WHEN 'revenue' THEN mean_revenue END AS value,
      CASE metric WHEN 'ctr' THEN mean_views WHEN 'revenue' THEN 1 END AS denominator,
      CASE metric WHEN 'ctr' THEN 0 WHEN 'revenue' THEN mean_revenue_before END AS covariate,
      CASE metric
        WHEN 'ctr' THEN product_clicks_clicks
        WHEN 'revenue' THEN product_revenue_revenue
      END AS value_value,  -- sum of squares of values about the mean
        WHEN 'ctr' THEN product_clicks_views
        WHEN 'revenue' THEN 0
      END AS value_denominator,  -- of products of values, denominators
        WHEN 'ctr' THEN product_views_views
      END AS denominator_denominator,  -- sum of squares of denominators about the mean
        WHEN 'ctr' THEN 0
        WHEN 'revenue' THEN product_revenue_before_revenue_before
      END AS covariate_covariate,  -- sum of squares of covariates about the mean
        WHEN 'revenue' THEN product_revenue_revenue_before
      END AS value_covariate  -- of products of values, covariates
    FROM variant_comoments
    CROSS JOIN metrics
-- experiment: variance_shares
      metric, variant, cuped_theta, value, variance, lift_variance, n_units, effective_units,
      value_control, variance_control, n_units_control, effective_units_control,
      -- of the variance of the difference
      variance / NULLIF(variance + variance_control, 0) AS variance_share,
      -- of that of the ratio value / value_control, to first order
      lift_variance / NULLIF(
        lift_variance
        + value / NULLIF(value_control, 0) * (value / NULLIF(value_control, 0))
        * lift_variance_control,
      ) AS relative_variance_share
    FROM variant_pairs
    WHERE variant <> 'A' AND n_units_control > 0
-- experiment: variance_shares_totals
), variance_shares_totals AS (
  SELECT COUNT(*) AS num_rows FROM variance_shares
-- experiment: effects
      variance_shares.metric, variance_shares.variant, variance_shares.cuped_theta,
      variance_shares.value, variance_shares.n_units, variance_shares.value_control,
      variance_shares.n_units_control,
      variance_shares.value - variance_shares.value_control AS difference,
      SQRT(variance_shares.variance + variance_shares.variance_control) AS se,
      -- by Welch
      1 / NULLIF(
        variance_shares.variance_share * variance_shares.variance_share
        / NULLIF(variance_shares.effective_units - 1, 0)
        + (1 - variance_shares.variance_share) * (1 - variance_shares.variance_share)
        / NULLIF(variance_shares.effective_units_control - 1, 0),
      ) AS df,
        WHEN variance_shares.value > 0 AND variance_shares.value_control > 0
        THEN variance_shares.value / variance_shares.value_control - 1
      END AS relative_difference,
      -- of the log of the ratio: variance over its share
      SQRT(variance_shares.lift_variance / NULLIF(variance_shares.relative_variance_share, 0))
      / NULLIF(variance_shares.value, 0) AS relative_se,
        variance_shares.relative_variance_share * variance_shares.relative_variance_share
        + (1 - variance_shares.relative_variance_share)
        * (1 - variance_shares.relative_variance_share)
      ) AS relative_df,
      -- 1 - confidence, over the number of intervals if corrected
      (1 - 0.95e0) / variance_shares_totals.num_rows AS alpha
    FROM variance_shares
    CROSS JOIN variance_shares_totals
-- experiment: quadrature_nodes
      4 * LN(1 + EXP(0.45e0 * number - 31)) AS node, 1.8 / (1 + EXP(31 - 0.45e0 * number)) AS weight
    FROM EXPLODE(SEQUENCE(0, 99)) AS series(number)
-- experiment: critical_values
      metric, variant,
      -- of the absolute difference
      MAX(CASE WHEN purpose = 'difference' THEN t_quantile END) AS critical_value,
      -- of the relative one
      MAX(CASE WHEN purpose = 'lift' THEN t_quantile END) AS relative_critical_value,
      MAX(CASE WHEN purpose = 'test' THEN t_quantile END)
      + MAX(CASE WHEN purpose = 'power' THEN t_quantile END) AS mde_critical_value,
      MAX(CASE WHEN purpose = 'p' THEN p_value END) AS p_value
    FROM t_critical_values
    GROUP BY metric, variant
-- experiment: critical_values_totals
), critical_values_totals AS (
  SELECT COUNT(p_value) AS num_tests FROM critical_values
-- experiment: p_value_ranks
  -- RAND() is never 1: one worker sorts these few rows. Without a partition Spark warns of that.
    critical_values.metric, critical_values.variant, critical_values.critical_value,
    critical_values.relative_critical_value, critical_values.mde_critical_value,
    critical_values.p_value,
      PARTITION BY RAND() = 1
      ORDER BY CASE
        WHEN critical_values.p_value IS NULL THEN 1
        ELSE 0
      END, critical_values.p_value, critical_values.metric, critical_values.variant
    critical_values_totals.num_tests
  CROSS JOIN critical_values_totals
-- experiment: corrected_p_values
  WINDOW rows_so_far AS (
    PARTITION BY RAND() = 1 ORDER BY p_rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
-- experiment: metric_moments_totals
), metric_moments_totals AS (
  SELECT SUM(units) AS total_units, COUNT(*) AS num_rows
-- experiment: sample_ratio_counts
    metric_moments.units, metric_moments.multi_variant_units, metric_moments_totals.total_units,
    1 / metric_moments_totals.num_rows AS expected_share
  CROSS JOIN metric_moments_totals
  WHERE metric_moments.metric = 'ctr'
-- experiment: sample_ratio_test
      SUM(is_tail * weight * CASE WHEN log_density < -700 THEN 0 ELSE EXP(log_density) END)
      / NULLIF(
          (1 - is_tail) * weight * CASE WHEN log_density < -700 THEN 0 ELSE EXP(log_density) END
        ),
      ) AS p_value
    FROM chi_square_densities
