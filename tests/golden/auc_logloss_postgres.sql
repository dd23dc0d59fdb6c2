-- sqlrank 0.1.0: AUC, LogLoss
-- plan: order=ranked
-- for another: order=bucketed, if one group alone is more than a worker holds
WITH predictions AS NOT MATERIALIZED (
  /* predictions: what was predicted: a row per example */
  SELECT
    "campaign", "day",
    CAST("p_click" AS DOUBLE PRECISION) AS score,
    CAST("click" AS DOUBLE PRECISION) AS label,
    CAST(1 AS DOUBLE PRECISION) AS weight
  FROM shop.ads.impressions
), totals AS (
  /* relations/totals.sql: one row per group: how many predictions it has. */
  SELECT
    "campaign", "day",
    COUNT(*) AS all_rows
  FROM predictions
  GROUP BY "campaign", "day"
), thresholds AS (
  /* relations/thresholds/ranked.sql: one row per distinct score of a positive, highest first, where
   every prediction weighs 1. */
  SELECT
    "campaign", "day", positives,
    rows_upto - rows_above - positives AS negatives,
    all_rows - rows_upto - all_positives + positives_upto AS negatives_below,
    all_positives,
    all_rows - all_positives AS all_negatives
  FROM (
    SELECT
      t."campaign", t."day", t.positives, t.rows_above,
      FLOOR(t.share_upto * n.all_rows + CAST(0.5 AS DOUBLE PRECISION)) AS rows_upto,
      n.all_rows,
      SUM(t.positives) OVER (
        PARTITION BY t."campaign", t."day"
        ORDER BY t.score DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS positives_upto,
      SUM(t.positives) OVER (PARTITION BY t."campaign", t."day") AS all_positives
    FROM (
      SELECT
        "campaign", "day", score,
        COUNT(*) AS positives,
        MAX(place) - 1 AS rows_above,
        MAX(share_upto) AS share_upto
      FROM (
        SELECT
          "campaign", "day", label, score,
          RANK() OVER (PARTITION BY "campaign", "day" ORDER BY score DESC) AS place,
          CUME_DIST() OVER (PARTITION BY "campaign", "day" ORDER BY score DESC) AS share_upto
        FROM predictions
      ) AS ranked
      WHERE label = 1
      GROUP BY "campaign", "day", score
    ) AS t
    JOIN totals AS n
      ON n."campaign" IS NOT DISTINCT FROM t."campaign" AND n."day" IS NOT DISTINCT FROM t."day"
  ) AS counted
), by_thresholds AS (
  /* one row per group */
  SELECT
    "campaign", "day",
    /* AUC: area under the ROC curve: how probably a positive is scored above a negative; a tie counts half. */
    SUM(
      CAST(positives AS DOUBLE PRECISION) / NULLIF(all_positives, 0) * ((negatives_below + CAST(0.5 AS DOUBLE PRECISION) * negatives) / NULLIF(all_negatives, 0))
    ) AS auc
  FROM thresholds
  GROUP BY "campaign", "day"
), by_predictions AS (
  /* one row per group */
  SELECT
    "campaign", "day",
    /* LogLoss: mean of minus the logarithm of the probability given to what happened, cross-entropy in nats. */
    -SUM(
      weight * LN(
        CASE
          WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
          THEN CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
          WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
          THEN 1 - CAST('2.220446049250313e-16' AS DOUBLE PRECISION)
          ELSE ABS(score + (label - 1))
        END
      )
    )
    / NULLIF(SUM(weight), 0) AS logloss
  FROM predictions
  GROUP BY "campaign", "day"
)
SELECT
  by_predictions."campaign", by_predictions."day",
  by_thresholds.auc AS auc,
  by_predictions.logloss AS logloss
FROM by_predictions
LEFT JOIN by_thresholds
  ON by_thresholds."campaign" IS NOT DISTINCT FROM by_predictions."campaign"
  AND by_thresholds."day" IS NOT DISTINCT FROM by_predictions."day"
ORDER BY by_predictions."campaign" NULLS FIRST, by_predictions."day" NULLS FIRST;
