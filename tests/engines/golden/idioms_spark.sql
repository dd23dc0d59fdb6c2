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
    FROM selected_queries
    LEFT JOIN document_arrays
      ON document_arrays.`model` IS NOT DISTINCT FROM selected_queries.`model`
      AND document_arrays.query_id = selected_queries.query_id
    INNER JOIN qrels ON qrels.query_id = selected_queries.query_id
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
      evaluated_queries.query_id, qrels.relevance,
    FROM evaluated_queries
    LEFT JOIN document_arrays ON document_arrays.query_id = evaluated_queries.query_id
    INNER JOIN qrels ON qrels.query_id = evaluated_queries.query_id
-- ndcg_ap: relevant_documents_metrics
    ) AS ap
-- kendalltau: block_sizes
  FROM EXPLODE(SEQUENCE(1, 40)) AS series(number)
-- roc: grid_positions
  -- One row per distinct score, with its place on a grid: the whole part is its cell, so that each
  -- is sorted on its own.
    SUM(CASE WHEN label = 1 THEN 0 ELSE 1e0 END) AS negatives,
    COUNT(*) AS num_rows,  -- predictions of this score
-- roc: score_cells
  -- One row per distinct score. (score_cells.sql)
  SELECT *
      score, positives, negatives, num_rows,
      -- number of the grid cell of the score, ascending
      CAST(FLOOR(grid_position) AS BIGINT) AS cell,
      grid_position - FLOOR(grid_position) AS cell_offset  -- position in the cell, from 0 to 1
    FROM grid_positions
-- roc: cell_means
    SUM(num_rows) AS num_rows
-- roc: bucketed_scores
  -- One row per distinct score, with its bucket, a cell of the grid or part of a crowded one.
    ) AS BIGINT) AS bucket
-- together: documents_with_gain
), documents_with_gain AS (
  -- One row per model, query and document of positive relevance. (documents_with_gain.sql)
    evaluated_queries.`model`, evaluated_queries.query_id, qrels.relevance,
    NULLIF(ARRAY_POSITION(document_arrays.documents, qrels.doc_id), 0) AS rank
  LEFT JOIN document_arrays
    ON document_arrays.`model` IS NOT DISTINCT FROM evaluated_queries.`model`
    AND document_arrays.query_id = evaluated_queries.query_id
  INNER JOIN qrels
    ON qrels.`model` IS NOT DISTINCT FROM evaluated_queries.`model`
    AND qrels.query_id = evaluated_queries.query_id
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
-- experiment: metric_moments
      metric, variant, units, multi_variant_units,
      CASE metric WHEN 'ctr' THEN mean_clicks WHEN 'revenue' THEN mean_revenue END AS value,
      CASE metric WHEN 'ctr' THEN mean_views WHEN 'revenue' THEN 1 END AS denominator,
      CASE metric WHEN 'ctr' THEN 0 WHEN 'revenue' THEN mean_revenue_before END AS covariate,
      CASE metric
        WHEN 'ctr' THEN product_clicks_clicks
        WHEN 'revenue' THEN product_revenue_revenue
      END AS svv,  -- sum of squares of values about the mean
      -- of products of values, denominators
      CASE metric WHEN 'ctr' THEN product_clicks_views WHEN 'revenue' THEN 0 END AS svd,
      -- sum of squares of denominators about the mean
      CASE metric WHEN 'ctr' THEN product_views_views WHEN 'revenue' THEN 0 END AS sdd,
        WHEN 'ctr' THEN 0
        WHEN 'revenue' THEN product_revenue_before_revenue_before
      END AS scc,  -- sum of squares of covariates about the mean
      -- of products of values, covariates
      CASE metric WHEN 'ctr' THEN 0 WHEN 'revenue' THEN product_revenue_revenue_before END AS svc
    FROM variant_comoments
    CROSS JOIN metrics
-- experiment: effects
      metric, variant, cuped_theta, value, value_control, n_units, n_units_control,
      value - value_control AS difference, SQRT(variance + variance_control) AS se,
      1 / NULLIF(
        variance_share * variance_share / NULLIF(n_units - 1, 0)
        + (1 - variance_share) * (1 - variance_share) / NULLIF(n_units_control - 1, 0),
      ) AS df,
      CASE
        WHEN value > 0 AND value_control > 0 THEN value / value_control - 1
      END AS relative_difference,
      SQRT(relative_variance + relative_variance_control) AS relative_se,
        relative_variance_share * relative_variance_share / NULLIF(n_units - 1, 0)
        + (1 - relative_variance_share) * (1 - relative_variance_share)
        / NULLIF(n_units_control - 1, 0),
      ) AS relative_df,
      (1 - 0.95e0) / COUNT(*) OVER () AS alpha
    FROM variance_shares
-- experiment: quadrature_nodes
      4 * LN(1 + EXP(0.45e0 * number - 31)) AS node, 1.8 / (1 + EXP(31 - 0.45e0 * number)) AS weight
    FROM EXPLODE(SEQUENCE(0, 99)) AS series(number)
-- experiment: sample_ratio_test
      n_units, multi_variant_units, statistic, df,
      SUM(is_tail * weight * CASE WHEN log_density > -700 THEN EXP(log_density) ELSE 0 END)
      / NULLIF(
          (1 - is_tail) * weight * CASE WHEN log_density > -700 THEN EXP(log_density) ELSE 0 END
        ),
      ) AS p_value
    FROM chi_square_densities
    GROUP BY n_units, multi_variant_units, statistic, df
