-- sqlrank 0.1.0 for DuckDB: AUC, APS, LogLoss, one row per campaign
-- reads: shop.ads.impressions (predictions)
-- settings: weight=1 / propensity, where day = '2026-01-01'
-- plan: score_order=window; alternative: score_order=buckets, if a single group has more rows than
--   one worker can sort
-- made by: sqlrank sql AUC APS LogLoss --predictions shop.ads.impressions --column label=click --column score=p_click --column 'weight=1 / propensity' --by campaign --where "day = '2026-01-01'" --create-table shop.ads.daily_metrics
CREATE OR REPLACE TABLE shop.ads.daily_metrics AS
WITH predictions AS NOT MATERIALIZED (
  -- One row per prediction. (shop.ads.impressions)
  SELECT
    "campaign",
    CAST("p_click" AS DOUBLE) AS score, CAST("click" AS DOUBLE) AS label,
    CAST(1 / "propensity" AS DOUBLE) AS weight
  FROM shop.ads.impressions
  WHERE "day" = '2026-01-01'
), predictions_with_threshold AS (
  -- One row per prediction. (predictions_with_threshold/by_window.sql)
  SELECT
    "campaign", label, score, weight,
    MIN(CASE WHEN label = 1 THEN score END) OVER (
      PARTITION BY "campaign" ORDER BY score DESC
    ) AS threshold_score  -- NULL above the highest score of a positive
  FROM predictions
), segment_weights AS (
  -- One row per campaign and threshold.
  SELECT
    "campaign",
    COALESCE(threshold_score, 0) AS threshold,
    CASE WHEN threshold_score IS NULL THEN 0 ELSE 1 END AS has_threshold,
    SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
    SUM(CASE WHEN label = 0 AND score = threshold_score THEN weight ELSE 0 END) AS negatives,
    SUM(CASE WHEN label = 1 OR score = threshold_score THEN 0 ELSE weight END) AS negatives_between
  FROM predictions_with_threshold
  GROUP BY "campaign", threshold_score
), threshold_segments AS (
  -- One row per campaign and distinct score of a positive, and one above all.
  -- (threshold_segments/weighted.sql)
  SELECT
    "campaign",
    has_threshold,  -- 0 for what is above the highest, else 1
    positives,  -- weight of the positives of this score
    negatives,  -- weight of the negatives of this score
    COALESCE(SUM(positives) OVER preceding_rows, 0) AS positives_above,
    COALESCE(SUM(negatives + negatives_between) OVER preceding_rows, 0) AS negatives_above,
    negatives_between
    + COALESCE(SUM(negatives + negatives_between) OVER following_rows, 0) AS negatives_below,
    SUM(positives) OVER (PARTITION BY "campaign") AS total_positives
  FROM segment_weights
  WINDOW preceding_rows AS (
    PARTITION BY "campaign"
    ORDER BY has_threshold, threshold DESC
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ),
  following_rows AS (
    PARTITION BY "campaign"
    ORDER BY has_threshold, threshold DESC
    ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
  )
), positive_thresholds_metrics AS (
  -- One row per campaign with a positive.
  SELECT
    "campaign",
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
  FROM threshold_segments
  WHERE has_threshold = 1 AND positives > 0
  GROUP BY "campaign"
), predictions_metrics AS (
  -- One row per campaign.
  SELECT
    "campaign",
    -- LogLoss: mean negative logarithm of the probability given to the label: score for 1, 1 -
    -- score for 0.
    -SUM(
      weight
      * LN(CASE
        WHEN ABS(score + (label - 1)) <= 2.220446049250313e-16 THEN 2.220446049250313e-16
        WHEN ABS(score + (label - 1)) >= 1 - 2.220446049250313e-16 THEN 1 - 2.220446049250313e-16
        ELSE ABS(score + (label - 1))
      END)
    ) / NULLIF(SUM(weight), 0) AS log_loss
  FROM predictions
  GROUP BY "campaign"
)
SELECT
  predictions_metrics."campaign", positive_thresholds_metrics.auc, positive_thresholds_metrics.aps,
  predictions_metrics.log_loss
FROM predictions_metrics
LEFT JOIN positive_thresholds_metrics
  ON positive_thresholds_metrics."campaign" IS NOT DISTINCT FROM predictions_metrics."campaign";
