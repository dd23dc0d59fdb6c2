-- rankings: relevant_documents
    CAST(1 AS DOUBLE) / rank AS reciprocal_rank,
-- rankings: discounted_gains_metrics
    SUM(CASE
      WHEN rank <= 10 THEN relevance * (LN(CAST(2 AS DOUBLE)) / LN(CAST(rank + 1 AS DOUBLE)))
    END)
      SUM(CASE
        WHEN ideal_rank <= 10
        THEN relevance * (LN(CAST(2 AS DOUBLE)) / LN(CAST(ideal_rank + 1 AS DOUBLE)))
        ELSE 0
      END),
-- rankings: relevant_documents_metrics
    SUM(CASE WHEN rank IS NOT NULL THEN CAST(cumulative_hits AS DOUBLE) / rank ELSE 0 END)
    / CAST(COUNT(*) AS DOUBLE) AS ap,
-- predictions: result
CREATE TABLE shop.ads.daily_metrics AS
-- ndcg_ap: relevant_documents_metrics
    / CAST(COUNT(*) AS DOUBLE) AS ap
-- auc_logloss: score_class_weights
    SUM(CASE WHEN label = 1 THEN 1e0 ELSE 0 END) AS positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE 1e0 END) AS negatives
-- auc_logloss: predictions_metrics
    END)) / CAST(COUNT(*) AS DOUBLE) AS log_loss
-- kendalltau: block_sizes
    CAST(FLOOR(EXP(number * LN(CAST(2 AS DOUBLE))) + 0.5) AS BIGINT) AS block_size
  FROM UNNEST(SEQUENCE(1, 40)) AS series(number)
-- kendalltau: label_blocks
      CAST(label_score_indexes.label_index + 1099511627776 AS DOUBLE) / block_sizes.block_size
      CAST(2 * (label_score_indexes.label_index + 1099511627776) AS DOUBLE)
      / block_sizes.block_size
-- roc: grid_positions
    CASE WHEN label = 1 THEN 1e0 ELSE 0 END AS positives,  -- weight of a positive, else 0
    CASE WHEN label = 1 THEN 0 ELSE 1e0 END AS negatives,  -- weight of a negative, else 0
-- roc: score_cells
    -- number of the grid cell of the score, ascending
    CAST(FLOOR(grid_position) AS BIGINT) AS cell,
-- roc: bucketed_scores
    ) AS BIGINT) AS bucket
-- roc: curve_segments
      998 / CAST(4 AS DOUBLE) * (
-- beyond: recommended_items_metrics
    CAST(SUM(CASE WHEN group_catalog.doc_id IS NULL THEN 0 ELSE 1 END) AS DOUBLE)
-- together: result
ORDER BY predictions_metrics."model" NULLS FIRST;
-- logs: logs_metrics
    CAST(1 AS DOUBLE) / COUNT(*) AS dr_by_sum,  -- derivative of the metric by its sum
-- logs: standard_errors
    fourth_powers / NULLIF(squares * squares, 0) - CAST(1 AS DOUBLE) / units AS concentration
-- logs: interval_terms
      THEN 1 + 2 * concentration - CAST(4 AS DOUBLE) / units
-- answers: qrels
    answers."intent", answers.query_id, relevant_ids.doc_id,
      ELSE CAST(ELEMENT_AT(answers.grades, relevant_ids.list_position) AS DOUBLE)
  CROSS JOIN UNNEST(answers.relevant) WITH ORDINALITY AS relevant_ids(doc_id, list_position)
-- answers: run
    answers."intent", answers.query_id, retrieved_ids.doc_id,
    retrieved_ids.list_position AS rank
  CROSS JOIN UNNEST(answers.retrieved) WITH ORDINALITY AS retrieved_ids(doc_id, list_position)
-- answers: relevant_documents_metrics
    SUM(CASE WHEN rank <= 5 THEN 1e0 ELSE 0 END) / CAST(COUNT(*) AS DOUBLE) AS r_at_5
-- answers: result
ORDER BY answers."intent" NULLS FIRST;
-- interleaved: result
  CAST(SUM(weight + is_won_by_b - is_won_by_a) AS DOUBLE) / NULLIF(SUM(weight), 0) / 2
  - 0.5 AS preference,
-- experiment: observations
    "user_id" AS unit_id, CAST("arm" AS VARCHAR) AS variant, CAST(clicks AS DOUBLE) AS clicks,
-- experiment: pooled_moments
    CAST(treatment.units * control.units AS DOUBLE)
    / (treatment.units + control.units) AS half_harmonic_units,
-- experiment: quadrature_nodes
  FROM UNNEST(SEQUENCE(0, 99)) AS series(number)
-- experiment: sample_ratio_counts
    SUM(units) OVER () AS total_units,
    CAST(1 AS DOUBLE) / COUNT(*) OVER () AS expected_share
-- experiment: sample_ratio_statistic
    CASE WHEN COUNT(*) > 2 THEN SQRT(CAST(COUNT(*) - 2 AS DOUBLE)) ELSE 0 END AS peak
