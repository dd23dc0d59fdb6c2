{# sqlrank 0.1.0: dbt package #}
{% macro postgres__predictions(predictions, groups, columns) %}
WITH sqlrank_predictions_source AS NOT MATERIALIZED (
  SELECT {{ sqlrank.source_columns('predictions', ['label', 'score'], columns, groups) }}
  FROM {{ predictions }}
), sqlrank_predictions AS NOT MATERIALIZED (
  -- One row per prediction.
  SELECT
    {{ sqlrank.group_columns(groups, '') }}, CAST(score AS DOUBLE PRECISION) AS score,
    CAST(label AS DOUBLE PRECISION) AS label
  FROM sqlrank_predictions_source
), sqlrank_predictions_metrics AS (
  -- One row per sqlrank_group.
  SELECT
    {{ sqlrank.group_columns(groups, '') }}, COUNT(*) AS total_rows,
    -- LogLoss: mean negative logarithm of the probability given to the label: score for 1, 1 -
    -- score for 0.
    -SUM(LN(CASE
      WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
      THEN CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
      WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
      THEN 1 - CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
      ELSE ABS(score + (label - 1))
    END)) / CAST(COUNT(*) AS DOUBLE PRECISION) AS log_loss,
    -- Brier: mean squared difference between probability and outcome.
    SUM((score - label) * (score - label)) / CAST(COUNT(*) AS DOUBLE PRECISION) AS brier,
    -- CalibrationRatio: mean predicted probability over the mean observed: above 1 the model
    -- overpredicts.
    SUM(score) / NULLIF(SUM(label), 0) AS calibration_ratio,
    -- BaseRate: share of the weight that is of positives.
    SUM(label) / CAST(COUNT(*) AS DOUBLE PRECISION) AS base_rate,
    -- num_predictions: number of predictions, whatever they weigh.
    COUNT(*) AS num_predictions
  FROM sqlrank_predictions
  GROUP BY {{ sqlrank.group_columns(groups, '') }}
), sqlrank_prediction_ranks AS (
  -- One row per prediction.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    label, score,
    RANK() OVER (PARTITION BY {{ sqlrank.group_columns(groups, '') }} ORDER BY score DESC) AS rank,
    CUME_DIST() OVER (
      PARTITION BY {{ sqlrank.group_columns(groups, '') }} ORDER BY score DESC
    ) AS share_at_or_above
  FROM sqlrank_predictions
), sqlrank_positive_ranks AS (
  -- One row per sqlrank_group and distinct score of a positive.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    score,
    COUNT(*) AS positives,
    MAX(rank) - 1 AS rows_above,  -- predictions of higher scores
    MAX(share_at_or_above) AS share_at_or_above
  FROM sqlrank_prediction_ranks
  WHERE label = 1
  GROUP BY {{ sqlrank.group_columns(groups, '') }}, score
), sqlrank_rank_counts AS (
  -- One row per sqlrank_group and distinct score of a positive, with the counts of rows down to it.
  SELECT
    {{ sqlrank.group_columns(groups, 'sqlrank_positive_ranks.') }},
    sqlrank_positive_ranks.positives, sqlrank_positive_ranks.rows_above,
    sqlrank_predictions_metrics.total_rows,
    FLOOR(
      sqlrank_positive_ranks.share_at_or_above * sqlrank_predictions_metrics.total_rows + 0.5
    ) AS rows_at_or_above,  -- a whole number again, from the share
    SUM(sqlrank_positive_ranks.positives) OVER (
      PARTITION BY {{ sqlrank.group_columns(groups, 'sqlrank_positive_ranks.') }}
      ORDER BY sqlrank_positive_ranks.score DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS positives_at_or_above,
    SUM(sqlrank_positive_ranks.positives) OVER (
      PARTITION BY {{ sqlrank.group_columns(groups, 'sqlrank_positive_ranks.') }}
    ) AS total_positives
  FROM sqlrank_positive_ranks
  INNER JOIN sqlrank_predictions_metrics
    ON {% for _ in groups %}(sqlrank_predictions_metrics.sqlrank_group_{{ loop.index }} IS NOT DISTINCT FROM sqlrank_positive_ranks.sqlrank_group_{{ loop.index }}){% if not loop.last %} AND {% endif %}{% endfor %}
), sqlrank_positive_thresholds AS (
  -- One row per sqlrank_group and distinct score of a positive. (positive_thresholds/by_rank.sql)
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    total_positives,
    positives,  -- positives of this score
    rows_at_or_above - rows_above - positives AS negatives,  -- negatives of this score
    positives_at_or_above - positives AS positives_above,
    rows_above - positives_at_or_above + positives AS negatives_above,
    -- rows less positives, both below
    total_rows - rows_at_or_above - total_positives + positives_at_or_above AS negatives_below
  FROM sqlrank_rank_counts
), sqlrank_nearest_bins AS (
  -- One row per prediction.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    label, score,
    -- its bin; rounding may move it by one, see the next step
    CASE WHEN score > 0 THEN -FLOOR(-score * 10) ELSE 1 END AS nearest_bin
  FROM sqlrank_predictions
), sqlrank_binned_predictions AS (
  -- One row per prediction.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    label, score,
    -- bin, corrected; a score at a limit is in the lower bin
    CASE
      WHEN score <= (nearest_bin - 1) / 10 AND nearest_bin > 1 THEN nearest_bin - 1
      WHEN score > nearest_bin / 10 AND nearest_bin < 10 THEN nearest_bin + 1
      ELSE nearest_bin
    END AS bin
  FROM sqlrank_nearest_bins
), sqlrank_calibration_bins AS (
  -- One row per sqlrank_group and bin of equal width over [0, 1] with predictions.
  -- (calibration_bins/equal_width.sql)
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    CAST(COUNT(*) AS DOUBLE PRECISION) AS weight,  -- of the predictions in the bin
    SUM(score) AS score_sum,  -- sum of weight times score
    SUM(label) AS label_sum  -- sum of weight times label
  FROM sqlrank_binned_predictions
  GROUP BY {{ sqlrank.group_columns(groups, '') }}, bin
), sqlrank_positive_thresholds_metrics AS (
  -- One row per sqlrank_group with a positive.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    -- AUC: area under the ROC curve, the probability that a positive is scored above a negative; a
    -- tie counts half.
    SUM(positives * (negatives_below + 0.5 * negatives)) / NULLIF(
      SUM(positives * (negatives_below + 0.5 * negatives))
      + SUM(positives * (negatives_above + 0.5 * negatives)),
      0
    ) AS auc,
    -- APS: average precision score, the area under the stepwise precision-recall curve; ties share
    -- a threshold.
    1
    - SUM(
      CAST(positives AS DOUBLE PRECISION) / total_positives * (
        (negatives_above + negatives)
        / NULLIF(positives_above + positives + negatives_above + negatives, 0)
      )
    ) AS aps
  FROM sqlrank_positive_thresholds
  GROUP BY {{ sqlrank.group_columns(groups, '') }}
), sqlrank_calibration_bins_metrics AS (
  -- One row per sqlrank_group.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    -- ECE: expected calibration error: mean over bins, by weight, of the absolute difference of
    -- mean probability and share of positives.
    SUM(ABS(score_sum - label_sum)) / SUM(weight) AS ece
  FROM sqlrank_calibration_bins
  GROUP BY {{ sqlrank.group_columns(groups, '') }}
)
SELECT
  {{ sqlrank.group_keys(groups, 'sqlrank_predictions_metrics.') }}sqlrank_positive_thresholds_metrics.auc AS auc,
  sqlrank_positive_thresholds_metrics.aps AS aps,
  sqlrank_predictions_metrics.log_loss AS log_loss,
  sqlrank_predictions_metrics.brier AS brier,
  sqlrank_calibration_bins_metrics.ece AS ece,
  sqlrank_predictions_metrics.calibration_ratio AS calibration_ratio,
  sqlrank_predictions_metrics.base_rate AS base_rate,
  CAST(sqlrank_predictions_metrics.num_predictions AS DOUBLE PRECISION) AS num_predictions
FROM sqlrank_predictions_metrics
LEFT JOIN sqlrank_positive_thresholds_metrics
  ON {% for _ in groups %}(sqlrank_positive_thresholds_metrics.sqlrank_group_{{ loop.index }} IS NOT DISTINCT FROM sqlrank_predictions_metrics.sqlrank_group_{{ loop.index }}){% if not loop.last %} AND {% endif %}{% endfor %}
LEFT JOIN sqlrank_calibration_bins_metrics
  ON {% for _ in groups %}(sqlrank_calibration_bins_metrics.sqlrank_group_{{ loop.index }} IS NOT DISTINCT FROM sqlrank_predictions_metrics.sqlrank_group_{{ loop.index }}){% if not loop.last %} AND {% endif %}{% endfor %}
{% endmacro %}
