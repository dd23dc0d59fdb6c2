-- sqlrank 0.1.0: AUC, APS, LogLoss
--   functions/log_likelihood/clipped.sql
--   functions/no_relevant/skip.sql
--   metrics/classification/aps.sql
--   metrics/classification/auc.sql
--   metrics/classification/logloss.sql
--   relations/thresholds/window.sql
--   relations/told/lowest.sql
--   strategy: window
CREATE TABLE shop.ads.daily_metrics AS
WITH told AS (
  /* one row per prediction with the lowest score of a positive that is not below its own, NULL if there
   is none. */
  SELECT
    "campaign",
    label,
    score,
    weight,
    MIN(CASE WHEN label = 1 THEN score END) OVER (PARTITION BY "campaign" ORDER BY score DESC) AS threshold
  FROM (
    SELECT
      "campaign",
      "click" AS label,
      "p_click" AS score,
      (CAST(1 AS DOUBLE PRECISION) / CAST("propensity" AS DOUBLE PRECISION)) AS weight
    FROM shop.ads.impressions
    WHERE
      "day" = '2026-01-01'
  ) AS predictions
), thresholds AS (
  /* one row per distinct score of a positive, highest first, with the weight of each class at it, above
   and below it. */
  SELECT
    "campaign",
    lowest AS score,
    positives,
    squares,
    negatives,
    positives_above,
    negatives_above,
    positives_below,
    next_negatives + negatives_after AS negatives_below,
    all_positives,
    all_negatives,
    all_rows
  FROM (
    SELECT
      "campaign",
      place,
      lowest,
      positives,
      squares,
      negatives,
      next_negatives,
      COALESCE(
        SUM(positives) OVER (PARTITION BY "campaign" ORDER BY place, lowest DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS positives_above,
      COALESCE(
        SUM(negatives + next_negatives) OVER (PARTITION BY "campaign" ORDER BY place, lowest DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS negatives_above,
      COALESCE(
        SUM(positives) OVER (PARTITION BY "campaign" ORDER BY place, lowest DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING),
        0
      ) AS positives_below,
      COALESCE(
        SUM(negatives + next_negatives) OVER (PARTITION BY "campaign" ORDER BY place, lowest DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING),
        0
      ) AS negatives_after,
      SUM(positives) OVER (PARTITION BY "campaign") AS all_positives,
      SUM(negatives + next_negatives) OVER (PARTITION BY "campaign") AS all_negatives,
      SUM(segment_rows) OVER (PARTITION BY "campaign") AS all_rows
    FROM (
      SELECT
        "campaign",
        COALESCE(threshold, 0) AS lowest,
        CASE WHEN threshold IS NULL THEN 0 ELSE 1 END AS place,
        SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
        SUM(CASE WHEN label = 1 THEN weight * weight ELSE 0 END) AS squares,
        SUM(CASE WHEN label = 0 AND score = threshold THEN weight ELSE 0 END) AS negatives,
        SUM(CASE WHEN label = 1 OR score = threshold THEN 0 ELSE weight END) AS next_negatives,
        COUNT(*) AS segment_rows
      FROM told
      GROUP BY
        "campaign",
        threshold
    ) AS segments
  ) AS running
  WHERE
    place = 1 AND positives > 0
), by_thresholds AS (
  /* one row per group: the metrics that read this relation */
  SELECT
    "campaign",
    SUM(
      CAST(positives AS DOUBLE PRECISION) / CAST(NULLIF(all_positives, 0) AS DOUBLE PRECISION) * (
        CAST(negatives_below + CAST(0.5 AS DOUBLE PRECISION) * negatives AS DOUBLE PRECISION)
        / CAST(NULLIF(all_negatives, 0) AS DOUBLE PRECISION)
      )
    ) AS auc,
    SUM(
      CAST(positives AS DOUBLE PRECISION) / CAST(NULLIF(all_positives, 0) AS DOUBLE PRECISION) * (
        CAST(positives_above + positives AS DOUBLE PRECISION)
        / CAST(NULLIF(positives_above + positives + negatives_above + negatives, 0) AS DOUBLE PRECISION)
      )
    ) AS aps
  FROM thresholds
  GROUP BY
    "campaign"
), by_predictions AS (
  /* one row per group: the metrics that read this relation */
  SELECT
    "campaign",
    CAST(-SUM(
      weight * LN(
        CAST(CASE
          WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
          THEN CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
          WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
          THEN 1 - CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
          ELSE ABS(score + (label - 1))
        END AS DOUBLE PRECISION)
      )
    ) AS DOUBLE PRECISION) / CAST(NULLIF(SUM(weight), 0) AS DOUBLE PRECISION) AS logloss
  FROM (
    SELECT
      "campaign",
      "click" AS label,
      "p_click" AS score,
      (CAST(1 AS DOUBLE PRECISION) / CAST("propensity" AS DOUBLE PRECISION)) AS weight
    FROM shop.ads.impressions
    WHERE
      "day" = '2026-01-01'
  ) AS predictions
  GROUP BY
    "campaign"
)
SELECT
  by_predictions."campaign",
  CAST(by_thresholds.auc AS DOUBLE PRECISION) AS auc,
  CAST(by_thresholds.aps AS DOUBLE PRECISION) AS aps,
  CAST(by_predictions.logloss AS DOUBLE PRECISION) AS logloss
FROM by_predictions
LEFT JOIN by_thresholds
  ON (by_thresholds."campaign" IS NOT DISTINCT FROM by_predictions."campaign");
