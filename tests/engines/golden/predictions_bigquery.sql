-- sqlrank 0.1.0 for BigQuery: AUC, APS, LogLoss, one row per campaign
-- reads: shop.ads.impressions (predictions)
-- settings: weight=1 / propensity, where day = '2026-01-01'
-- plan: score_order=distinct; alternative: score_order=buckets, if a single group has more distinct
--   scores than one worker can sort
-- made by: sqlrank sql AUC APS LogLoss --predictions shop.ads.impressions --column label=click --column score=p_click --column 'weight=1 / propensity' --by campaign --where "day = '2026-01-01'" --create-table shop.ads.daily_metrics --dialect bigquery
CREATE OR REPLACE TABLE shop.ads.daily_metrics AS
WITH predictions AS (
  -- One row per prediction. (shop.ads.impressions)
  SELECT
    `campaign`,
    CAST(`p_click` AS FLOAT64) AS score, CAST(`click` AS FLOAT64) AS label,
    CAST(1 / `propensity` AS FLOAT64) AS weight
  FROM shop.ads.impressions
  WHERE `day` = '2026-01-01'
), score_class_weights AS (
  -- One row per campaign and distinct score. (score_class_weights/by_score.sql)
  SELECT
    `campaign`, score,
    -- weight of the positives of this score
    SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
    -- weight of the negatives of this score
    SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives
  FROM predictions
  GROUP BY `campaign`, score
), score_thresholds AS (
  -- One row per campaign and distinct score, with sums over higher and lower scores.
  -- (score_thresholds/by_window.sql)
  SELECT
    `campaign`, positives, negatives,
    COALESCE(SUM(positives) OVER preceding_rows, 0) AS positives_above,
    COALESCE(SUM(negatives) OVER preceding_rows, 0) AS negatives_above,
    COALESCE(SUM(negatives) OVER following_rows, 0) AS negatives_below,  -- sum over lower scores
    SUM(positives) OVER (PARTITION BY `campaign`) AS total_positives
  FROM score_class_weights
  WINDOW preceding_rows AS (
    PARTITION BY `campaign` ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ),
  following_rows AS (
    PARTITION BY `campaign` ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
  )
), positive_thresholds_metrics AS (
  -- One row per campaign with a positive.
  SELECT
    `campaign`,
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
  FROM score_thresholds
  WHERE positives > 0
  GROUP BY `campaign`
), predictions_metrics AS (
  -- One row per campaign.
  SELECT
    `campaign`,
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
  GROUP BY `campaign`
)
SELECT
  predictions_metrics.`campaign`, positive_thresholds_metrics.auc, positive_thresholds_metrics.aps,
  predictions_metrics.log_loss
FROM predictions_metrics
LEFT JOIN positive_thresholds_metrics
  ON positive_thresholds_metrics.`campaign` IS NOT DISTINCT FROM predictions_metrics.`campaign`;
