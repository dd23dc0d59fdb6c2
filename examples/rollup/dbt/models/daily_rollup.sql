{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='day', batch_size='day', begin='2026-03-01', lookback=3, on_schema_change='append_new_columns') }}
-- sqlrank 0.1.0 for DuckDB: rollup of AUC, LogLoss, CalibrationRatio, one row per day, campaign and
--   bin
-- Hash of the generated lines: cb8d063b738714c2
-- reads: ads.impressions (predictions)
-- predictions: weight is taken to be 1, since the table cannot be looked at. Map predictions.weight
--   to a column to read it
-- definition: 151b92aa6fb6c3dc
WITH predictions AS (
  -- One row per prediction.
  SELECT "day", "campaign", CAST(score AS DOUBLE) AS score, CAST("click" AS DOUBLE) AS label
  FROM {{ source('ads', 'impressions') }}
), binned_predictions AS (
  -- One row per prediction.
  SELECT
    "day", "campaign", label, score,
    FLOOR(
      1024 * CASE WHEN score < 0 THEN -1 ELSE 1 END * SQRT(SQRT(SQRT(SQRT(ABS(score)))))
    ) AS bin  -- steps of the 16th root of the score, with its sign
  FROM predictions
)
SELECT
  "day", "campaign", bin,
  SUM(CASE WHEN label = 1 THEN 1e0 ELSE 0 END) AS positives,
  SUM(CASE WHEN label = 1 THEN 0 ELSE 1e0 END) AS negatives,
  MIN(score) AS score_min,
  MAX(score) AS score_max,
  CAST(COUNT(*) AS DOUBLE) AS num_rows,
  SUM(LN(CASE
    WHEN ABS(score + (label - 1)) <= 2.220446049250313e-16 THEN 2.220446049250313e-16
    WHEN ABS(score + (label - 1)) >= 1 - 2.220446049250313e-16 THEN 1 - 2.220446049250313e-16
    ELSE ABS(score + (label - 1))
  END)) AS sum_log_likelihood_67c267b0,
  CAST(COUNT(*) AS DOUBLE) AS sum_weight_a1a30430,
  SUM(score) AS sum_weight_score_5da0c61f,
  SUM(label) AS sum_weight_label_aa407f5a,
  '151b92aa6fb6c3dc' AS definition_hash
FROM binned_predictions
GROUP BY "day", "campaign", bin
