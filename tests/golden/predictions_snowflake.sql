-- sqlrank 0.1.0 for Snowflake: AUC, APS, LogLoss, one row per CAMPAIGN
-- reads: shop.ads.impressions (predictions)
-- settings: weight=1 / propensity, where day = '2026-01-01'
-- plan: score_order=window; alternative: score_order=buckets, if a single group has more rows than one worker can sort
-- made by: sqlrank sql AUC APS LogLoss --predictions shop.ads.impressions --column label=click --column score=p_click --column 'weight=1 / propensity' --by campaign --where "day = '2026-01-01'" --create-table shop.ads.daily_metrics --dialect snowflake
CREATE OR REPLACE TABLE shop.ads.daily_metrics AS
WITH predictions AS (
  -- One row per prediction. (shop.ads.impressions)
  SELECT
    "CAMPAIGN",
    CAST("P_CLICK" AS DOUBLE) + 0 AS score, CAST("CLICK" AS DOUBLE) + 0 AS label,
    CAST(1 AS DOUBLE) / "PROPENSITY" AS weight
  FROM shop.ads.impressions
  WHERE "DAY" = '2026-01-01'
), predictions_with_threshold AS (
  -- One row per prediction. (predictions_with_threshold/by_window.sql)
  SELECT
    "CAMPAIGN", label, score, weight,
    MIN(CASE WHEN label = 1 THEN score END) OVER (
      PARTITION BY "CAMPAIGN" ORDER BY score DESC
    ) AS threshold_score  -- NULL above the highest score of a positive
  FROM predictions
), segment_weights AS (
  -- One row per CAMPAIGN and threshold.
  SELECT
    "CAMPAIGN",
    COALESCE(threshold_score, 0) AS threshold,
    CASE WHEN threshold_score IS NULL THEN 0 ELSE 1 END AS has_threshold,
    SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
    SUM(CASE WHEN label = 0 AND score = threshold_score THEN weight ELSE 0 END) AS negatives,
    SUM(CASE WHEN label = 1 OR score = threshold_score THEN 0 ELSE weight END) AS negatives_between
  FROM predictions_with_threshold
  GROUP BY "CAMPAIGN", threshold_score
), threshold_segments AS (
  -- One row per CAMPAIGN and distinct score of a positive, and one above all.
  -- (threshold_segments/weighted.sql)
  SELECT
    "CAMPAIGN",
    has_threshold,  -- 0 for what is above the highest, else 1
    positives,  -- weight of the positives of this score
    negatives,  -- weight of the negatives of this score
    COALESCE(
      SUM(positives) OVER (
        PARTITION BY "CAMPAIGN"
        ORDER BY has_threshold, threshold DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ),
      0
    ) AS positives_above,
    COALESCE(
      SUM(negatives + negatives_between) OVER (
        PARTITION BY "CAMPAIGN"
        ORDER BY has_threshold, threshold DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ),
      0
    ) AS negatives_above,
    negatives_between
    + COALESCE(
      SUM(negatives + negatives_between) OVER (
        PARTITION BY "CAMPAIGN"
        ORDER BY has_threshold, threshold DESC
        ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
      ),
      0
    ) AS negatives_below,
    SUM(positives) OVER (PARTITION BY "CAMPAIGN") AS total_positives,
    SUM(negatives + negatives_between) OVER (PARTITION BY "CAMPAIGN") AS total_negatives
  FROM segment_weights
), positive_thresholds_metrics AS (
  -- One row per CAMPAIGN with a positive.
  SELECT
    "CAMPAIGN",
    -- AUC: area under the ROC curve, the probability that a positive is scored above a negative; a
    -- tie counts half.
    SUM(
      positives / NULLIF(total_positives, 0)
      * ((negatives_below + 0.5 * negatives) / NULLIF(total_negatives, 0))
    ) AS auc,
    -- APS: average precision score, the area under the stepwise precision-recall curve; ties share
    -- a threshold.
    SUM(
      positives / NULLIF(total_positives, 0) * (
        (positives_above + positives)
        / NULLIF(positives_above + positives + negatives_above + negatives, 0)
      )
    ) AS aps
  FROM threshold_segments
  WHERE has_threshold = 1 AND positives > 0
  GROUP BY "CAMPAIGN"
), predictions_metrics AS (
  -- One row per CAMPAIGN.
  SELECT
    "CAMPAIGN",
    -- LogLoss: mean negative logarithm of the probability given to the label: score for 1, 1 -
    -- score for 0.
    -SUM(
      weight
      * LN(CASE
        WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS DOUBLE)
        THEN CAST('2.220446049250313e-16' AS DOUBLE)
        WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS DOUBLE)
        THEN 1 - CAST('2.220446049250313e-16' AS DOUBLE)
        ELSE ABS(score + (label - 1))
      END)
    ) / NULLIF(SUM(weight), 0) AS log_loss
  FROM predictions
  GROUP BY "CAMPAIGN"
)
SELECT
  predictions_metrics."CAMPAIGN", positive_thresholds_metrics.auc, positive_thresholds_metrics.aps,
  predictions_metrics.log_loss
FROM predictions_metrics
LEFT JOIN positive_thresholds_metrics
  ON positive_thresholds_metrics."CAMPAIGN" IS NOT DISTINCT FROM predictions_metrics."CAMPAIGN";
