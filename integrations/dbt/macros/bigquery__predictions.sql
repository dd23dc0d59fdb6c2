{# sqlrank 0.1.0: dbt package #}
{% macro bigquery__predictions(predictions, groups, columns) %}
WITH sqlrank_predictions_source AS (
  SELECT {{ sqlrank.source_columns('predictions', ['label', 'score'], columns, groups) }}
  FROM {{ predictions }}
), sqlrank_predictions AS (
  -- One row per prediction.
  SELECT
    {{ sqlrank.group_columns(groups, '') }}, CAST(score AS FLOAT64) AS score,
    CAST(label AS FLOAT64) AS label
  FROM sqlrank_predictions_source
), sqlrank_score_class_weights AS (
  -- One row per sqlrank_group and distinct score. (score_class_weights.sql)
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    score,
    -- weight of the positives of this score
    SUM(CASE WHEN label = 1 THEN 1.0 ELSE 0 END) AS positives,
    -- weight of the negatives of this score
    SUM(CASE WHEN label = 1 THEN 0 ELSE 1.0 END) AS negatives
  FROM sqlrank_predictions
  GROUP BY {{ sqlrank.group_columns(groups, '') }}, score
), sqlrank_score_thresholds AS (
  -- One row per sqlrank_group and distinct score, with sums over higher and lower scores.
  -- (score_thresholds/by_window.sql)
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    positives, negatives,
    COALESCE(SUM(positives) OVER preceding_rows, 0) AS positives_above,
    COALESCE(SUM(negatives) OVER preceding_rows, 0) AS negatives_above,
    -- sum over lower scores
    SUM(negatives) OVER (PARTITION BY {{ sqlrank.group_columns(groups, '') }})
    - COALESCE(SUM(negatives) OVER preceding_rows, 0) - negatives AS negatives_below,
    SUM(positives) OVER (PARTITION BY {{ sqlrank.group_columns(groups, '') }}) AS total_positives
  FROM sqlrank_score_class_weights
  WINDOW preceding_rows AS (
    PARTITION BY {{ sqlrank.group_columns(groups, '') }}
    ORDER BY score DESC
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
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
    CAST(COUNT(*) AS FLOAT64) AS weight,  -- of the predictions in the bin
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
      positives / NULLIF(total_positives, 0) * (
        (negatives_above + negatives)
        / NULLIF(positives_above + positives + negatives_above + negatives, 0)
      )
    ) AS aps
  FROM sqlrank_score_thresholds
  WHERE positives > 0
  GROUP BY {{ sqlrank.group_columns(groups, '') }}
), sqlrank_predictions_metrics AS (
  -- One row per sqlrank_group.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    -- LogLoss: mean negative logarithm of the probability given to the label: score for 1, 1 -
    -- score for 0.
    -SUM(LN(CASE
      WHEN ABS(score + (label - 1)) <= 2.220446049250313e-16 THEN 2.220446049250313e-16
      WHEN ABS(score + (label - 1)) >= 1 - 2.220446049250313e-16 THEN 1 - 2.220446049250313e-16
      ELSE ABS(score + (label - 1))
    END)) / COUNT(*) AS log_loss,
    -- Brier: mean squared difference between probability and outcome.
    SUM((score - label) * (score - label)) / COUNT(*) AS brier,
    -- CalibrationRatio: mean predicted probability over the mean observed: above 1 the model
    -- overpredicts.
    SUM(score) / NULLIF(SUM(label), 0) AS calibration_ratio,
    -- BaseRate: share of the weight that is of positives.
    SUM(label) / COUNT(*) AS base_rate,
    -- num_predictions: number of predictions, whatever they weigh.
    COUNT(*) AS num_predictions
  FROM sqlrank_predictions
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
  CAST(sqlrank_predictions_metrics.num_predictions AS FLOAT64) AS num_predictions
FROM sqlrank_predictions_metrics
LEFT JOIN sqlrank_positive_thresholds_metrics
  ON {% for _ in groups %}(sqlrank_positive_thresholds_metrics.sqlrank_group_{{ loop.index }} IS NOT DISTINCT FROM sqlrank_predictions_metrics.sqlrank_group_{{ loop.index }}){% if not loop.last %} AND {% endif %}{% endfor %}
LEFT JOIN sqlrank_calibration_bins_metrics
  ON {% for _ in groups %}(sqlrank_calibration_bins_metrics.sqlrank_group_{{ loop.index }} IS NOT DISTINCT FROM sqlrank_predictions_metrics.sqlrank_group_{{ loop.index }}){% if not loop.last %} AND {% endif %}{% endfor %}
{% endmacro %}
