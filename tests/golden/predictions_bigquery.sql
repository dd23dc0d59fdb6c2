-- sqlrank 0.1.0: AUC, APS, LogLoss
-- plan: order=window
-- for another: order=bucketed, if one group alone is more than a worker holds
CREATE OR REPLACE TABLE shop.ads.daily_metrics AS
WITH predictions AS (
  /* predictions: what was predicted: a row per example */
  SELECT
    `campaign`,
    CAST(`p_click` AS FLOAT64) AS score,
    CAST(`click` AS FLOAT64) AS label,
    1 / `propensity` AS weight
  FROM shop.ads.impressions
  WHERE `day` = '2026-01-01'
), told AS (
  /* relations/told/lowest.sql: one row per prediction with the lowest score of a positive that is not
   below its own, NULL if there is none. */
  SELECT
    `campaign`, label, score, weight,
    MIN(CASE WHEN label = 1 THEN score END) OVER (PARTITION BY `campaign` ORDER BY score DESC) AS lowest
  FROM predictions
), segments AS (
  /* relations/segments/told.sql: one row per distinct score of a positive, highest first, with the
   weight of each class at it, above and below it, and one of place 0 for what stands above them
   all; next_negatives are below it and above the next one. */
  SELECT
    `campaign`, place, positives, negatives, positives_above, negatives_above,
    next_negatives + negatives_after AS negatives_below,
    all_positives, all_negatives
  FROM (
    SELECT
      `campaign`, place, positives, negatives, next_negatives,
      COALESCE(
        SUM(positives) OVER (
          PARTITION BY `campaign`
          ORDER BY place, threshold DESC
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        0
      ) AS positives_above,
      COALESCE(
        SUM(negatives + next_negatives) OVER (
          PARTITION BY `campaign`
          ORDER BY place, threshold DESC
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        0
      ) AS negatives_above,
      COALESCE(
        SUM(negatives + next_negatives) OVER (
          PARTITION BY `campaign`
          ORDER BY place, threshold DESC
          ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ),
        0
      ) AS negatives_after,
      SUM(positives) OVER (PARTITION BY `campaign`) AS all_positives,
      SUM(negatives + next_negatives) OVER (PARTITION BY `campaign`) AS all_negatives
    FROM (
      SELECT
        `campaign`,
        COALESCE(lowest, 0) AS threshold,
        CASE WHEN lowest IS NULL THEN 0 ELSE 1 END AS place,
        SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
        SUM(CASE WHEN label = 0 AND score = lowest THEN weight ELSE 0 END) AS negatives,
        SUM(CASE WHEN label = 1 OR score = lowest THEN 0 ELSE weight END) AS next_negatives
      FROM told
      GROUP BY `campaign`, lowest
    ) AS added
  ) AS running
), thresholds AS (
  /* relations/thresholds/window.sql: one row per distinct score of a positive, highest first, with the
   weight of each class at it, above and below it. */
  SELECT
    `campaign`, positives, negatives, positives_above, negatives_above, negatives_below, all_positives,
    all_negatives
  FROM segments
  WHERE place = 1 AND positives > 0
), by_thresholds AS (
  /* one row per group */
  SELECT
    `campaign`,
    /* AUC: area under the ROC curve: how probably a positive is scored above a negative; a tie counts half. */
    SUM(
      positives / NULLIF(all_positives, 0) * ((negatives_below + 0.5 * negatives) / NULLIF(all_negatives, 0))
    ) AS auc,
    /* APS: average precision score, the area under the precision-recall curve taken in steps; ties share a threshold. */
    SUM(
      positives / NULLIF(all_positives, 0) * ((positives_above + positives) / NULLIF(positives_above + positives + negatives_above + negatives, 0))
    ) AS aps
  FROM thresholds
  GROUP BY `campaign`
), by_predictions AS (
  /* one row per group */
  SELECT
    `campaign`,
    /* LogLoss: mean of minus the logarithm of the probability given to what happened, cross-entropy in nats. */
    -SUM(
      weight * LN(
        CASE
          WHEN ABS(score + (label - 1)) <= 2.220446049250313e-16
          THEN 2.220446049250313e-16
          WHEN ABS(score + (label - 1)) >= 1 - 2.220446049250313e-16
          THEN 1 - 2.220446049250313e-16
          ELSE ABS(score + (label - 1))
        END
      )
    )
    / NULLIF(SUM(weight), 0) AS logloss
  FROM predictions
  GROUP BY `campaign`
)
SELECT
  by_predictions.`campaign`,
  by_thresholds.auc AS auc,
  by_thresholds.aps AS aps,
  by_predictions.logloss AS logloss
FROM by_predictions
LEFT JOIN by_thresholds ON by_thresholds.`campaign` IS NOT DISTINCT FROM by_predictions.`campaign`;
