-- sqlrank 0.1.0 for Snowflake: AUC, LogLoss, one row per CAMPAIGN and DAY
-- reads: shop.ads.impressions (predictions)
-- plan: score_order=distinct; alternative: score_order=buckets, if a single group has more distinct scores than one worker can sort
-- made by: sqlrank sql AUC LogLoss --predictions shop.ads.impressions --column label=click --column score=p_click --by campaign --by day --dialect snowflake
WITH predictions AS (
  -- One row per prediction. (shop.ads.impressions)
  SELECT
    "CAMPAIGN", "DAY",
    CAST("P_CLICK" AS DOUBLE) + 0 AS score,  -- + 0 makes -0.0 a 0.0
    CAST("CLICK" AS DOUBLE) + 0 AS label
  FROM shop.ads.impressions
), score_class_weights AS (
  -- One row per CAMPAIGN, DAY and distinct score. (score_class_weights.sql)
  SELECT
    "CAMPAIGN", "DAY", score,
    -- weight of the positives of this score
    SUM(CASE WHEN label = 1 THEN CAST(1.0 AS DOUBLE) ELSE 0 END) AS positives,
    -- weight of the negatives of this score
    SUM(CASE WHEN label = 1 THEN 0 ELSE CAST(1.0 AS DOUBLE) END) AS negatives
  FROM predictions
  GROUP BY "CAMPAIGN", "DAY", score
), score_thresholds AS (
  -- One row per CAMPAIGN, DAY and distinct score, with sums over higher and lower scores.
  -- (score_thresholds/by_window.sql)
  SELECT
    "CAMPAIGN", "DAY", positives, negatives,
    COALESCE(
      SUM(negatives) OVER (
        PARTITION BY "CAMPAIGN", "DAY"
        ORDER BY score DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ),
      0
    ) AS negatives_above,
    -- sum over lower scores
    SUM(negatives) OVER (PARTITION BY "CAMPAIGN", "DAY")
    - COALESCE(
      SUM(negatives) OVER (
        PARTITION BY "CAMPAIGN", "DAY"
        ORDER BY score DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ),
      0
    ) - negatives AS negatives_below
  FROM score_class_weights
), positive_thresholds_metrics AS (
  -- One row per CAMPAIGN and DAY with a positive.
  SELECT
    "CAMPAIGN", "DAY",
    -- AUC: area under the ROC curve, the probability that a positive is scored above a negative; a
    -- tie counts half.
    SUM(positives * (negatives_below + 0.5 * negatives)) / NULLIF(
      SUM(positives * (negatives_below + 0.5 * negatives))
      + SUM(positives * (negatives_above + 0.5 * negatives)),
      0
    ) AS auc
  FROM score_thresholds
  WHERE positives > 0
  GROUP BY "CAMPAIGN", "DAY"
), predictions_metrics AS (
  -- One row per CAMPAIGN and DAY.
  SELECT
    "CAMPAIGN", "DAY",
    -- LogLoss: mean negative logarithm of the probability given to the label: score for 1, 1 -
    -- score for 0.
    -SUM(LN(CASE
      WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS DOUBLE)
      THEN CAST('2.220446049250313e-16' AS DOUBLE)
      WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS DOUBLE)
      THEN 1 - CAST('2.220446049250313e-16' AS DOUBLE)
      ELSE ABS(score + (label - 1))
    END)) / CAST(COUNT(*) AS DOUBLE) AS log_loss
  FROM predictions
  GROUP BY "CAMPAIGN", "DAY"
)
SELECT
  predictions_metrics."CAMPAIGN", predictions_metrics."DAY", positive_thresholds_metrics.auc,
  predictions_metrics.log_loss
FROM predictions_metrics
LEFT JOIN positive_thresholds_metrics
  ON positive_thresholds_metrics."CAMPAIGN" IS NOT DISTINCT FROM predictions_metrics."CAMPAIGN"
  AND positive_thresholds_metrics."DAY" IS NOT DISTINCT FROM predictions_metrics."DAY"
ORDER BY predictions_metrics."CAMPAIGN" NULLS FIRST, predictions_metrics."DAY" NULLS FIRST;
