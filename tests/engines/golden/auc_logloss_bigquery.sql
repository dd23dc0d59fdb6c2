-- sqlrank 0.1.0 for BigQuery: AUC, LogLoss, one row per campaign and day
-- reads: shop.ads.impressions (predictions)
-- plan: score_order=distinct; alternative: score_order=buckets, if a single group has more distinct
--   scores than one worker can sort
-- predictions: weight is taken to be 1, since the table cannot be looked at. Map predictions.weight
--   to a column to read it
-- made by: sqlrank sql AUC LogLoss --predictions shop.ads.impressions --column label=click --column score=p_click --by campaign --by day --dialect bigquery
WITH predictions AS (
  -- One row per prediction. (shop.ads.impressions)
  SELECT `campaign`, `day`, CAST(`p_click` AS FLOAT64) AS score, CAST(`click` AS FLOAT64) AS label
  FROM shop.ads.impressions
), score_class_weights AS (
  -- One row per campaign, day and distinct score. (score_class_weights/by_score.sql)
  SELECT
    `campaign`, `day`, score,
    -- weight of the positives of this score
    SUM(CASE WHEN label = 1 THEN 1.0 ELSE 0 END) AS positives,
    -- weight of the negatives of this score
    SUM(CASE WHEN label = 1 THEN 0 ELSE 1.0 END) AS negatives
  FROM predictions
  GROUP BY `campaign`, `day`, score
), score_thresholds AS (
  -- One row per campaign, day and distinct score, with sums over higher and lower scores.
  -- (score_thresholds/by_window.sql)
  SELECT
    `campaign`, `day`, positives, negatives,
    COALESCE(SUM(negatives) OVER preceding_rows, 0) AS negatives_above,
    -- sum over lower scores
    SUM(negatives) OVER (PARTITION BY `campaign`, `day`)
    - COALESCE(SUM(negatives) OVER preceding_rows, 0) - negatives AS negatives_below
  FROM score_class_weights
  WINDOW preceding_rows AS (
    PARTITION BY `campaign`, `day`
    ORDER BY score DESC
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
), positive_thresholds_metrics AS (
  -- One row per campaign and day with a positive.
  SELECT
    `campaign`, `day`,
    -- AUC: area under the ROC curve, the probability that a positive is scored above a negative; a
    -- tie counts half.
    SUM(positives * (negatives_below + 0.5 * negatives)) / NULLIF(
      SUM(positives * (negatives_below + 0.5 * negatives))
      + SUM(positives * (negatives_above + 0.5 * negatives)),
      0
    ) AS auc
  FROM score_thresholds
  WHERE positives > 0
  GROUP BY `campaign`, `day`
), predictions_metrics AS (
  -- One row per campaign and day.
  SELECT
    `campaign`, `day`,
    -- LogLoss: mean negative logarithm of the probability given to the label: score for 1, 1 -
    -- score for 0.
    -SUM(LN(CASE
      WHEN ABS(score + (label - 1)) <= 2.220446049250313e-16 THEN 2.220446049250313e-16
      WHEN ABS(score + (label - 1)) >= 1 - 2.220446049250313e-16 THEN 1 - 2.220446049250313e-16
      ELSE ABS(score + (label - 1))
    END)) / COUNT(*) AS log_loss
  FROM predictions
  GROUP BY `campaign`, `day`
)
SELECT
  predictions_metrics.`campaign`, predictions_metrics.`day`, positive_thresholds_metrics.auc,
  predictions_metrics.log_loss
FROM predictions_metrics
LEFT JOIN positive_thresholds_metrics
  ON positive_thresholds_metrics.`campaign` IS NOT DISTINCT FROM predictions_metrics.`campaign`
  AND positive_thresholds_metrics.`day` IS NOT DISTINCT FROM predictions_metrics.`day`
ORDER BY predictions_metrics.`campaign`, predictions_metrics.`day`;
