-- sqlrank 0.1.0: AUC, LogLoss
-- plan: order=ranked
-- for another: order=bucketed, if one group alone is more than a worker holds
WITH predictions AS (
  /* predictions: what was predicted: a row per example */
  SELECT
    "CAMPAIGN", "DAY",
    CAST("P_CLICK" AS DOUBLE) AS score,
    CAST("CLICK" AS DOUBLE) AS label,
    CAST(1 AS DOUBLE) AS weight
  FROM shop.ads.impressions
), totals AS (
  /* relations/totals.sql: one row per group: how many predictions it has. */
  SELECT
    "CAMPAIGN", "DAY",
    COUNT(*) AS all_rows
  FROM predictions
  GROUP BY "CAMPAIGN", "DAY"
), thresholds AS (
  /* relations/thresholds/ranked.sql: one row per distinct score of a positive, highest first, where
   every prediction weighs 1. */
  SELECT
    "CAMPAIGN", "DAY", positives,
    rows_upto - rows_above - positives AS negatives,
    all_rows - rows_upto - all_positives + positives_upto AS negatives_below,
    all_positives,
    all_rows - all_positives AS all_negatives
  FROM (
    SELECT
      t."CAMPAIGN", t."DAY", t.positives, t.rows_above,
      FLOOR(t.share_upto * n.all_rows + CAST(0.5 AS DOUBLE)) AS rows_upto,
      n.all_rows,
      SUM(t.positives) OVER (
        PARTITION BY t."CAMPAIGN", t."DAY"
        ORDER BY t.score DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS positives_upto,
      SUM(t.positives) OVER (PARTITION BY t."CAMPAIGN", t."DAY") AS all_positives
    FROM (
      SELECT
        "CAMPAIGN", "DAY", score,
        COUNT(*) AS positives,
        MAX(place) - 1 AS rows_above,
        MAX(share_upto) AS share_upto
      FROM (
        SELECT
          "CAMPAIGN", "DAY", label, score,
          RANK() OVER (PARTITION BY "CAMPAIGN", "DAY" ORDER BY score DESC) AS place,
          CUME_DIST() OVER (PARTITION BY "CAMPAIGN", "DAY" ORDER BY score DESC) AS share_upto
        FROM predictions
      ) AS ranked
      WHERE label = 1
      GROUP BY "CAMPAIGN", "DAY", score
    ) AS t
    JOIN totals AS n
      ON n."CAMPAIGN" IS NOT DISTINCT FROM t."CAMPAIGN" AND n."DAY" IS NOT DISTINCT FROM t."DAY"
  ) AS counted
), by_thresholds AS (
  /* one row per group */
  SELECT
    "CAMPAIGN", "DAY",
    /* AUC: area under the ROC curve: how probably a positive is scored above a negative; a tie counts half. */
    SUM(
      CAST(positives AS DOUBLE) / NULLIF(all_positives, 0) * ((negatives_below + CAST(0.5 AS DOUBLE) * negatives) / NULLIF(all_negatives, 0))
    ) AS auc
  FROM thresholds
  GROUP BY "CAMPAIGN", "DAY"
), by_predictions AS (
  /* one row per group */
  SELECT
    "CAMPAIGN", "DAY",
    /* LogLoss: mean of minus the logarithm of the probability given to what happened, cross-entropy in nats. */
    -SUM(
      weight * LN(
        CASE
          WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS DOUBLE)
          THEN CAST('2.220446049250313e-16' AS DOUBLE)
          WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS DOUBLE)
          THEN 1 - CAST('2.220446049250313e-16' AS DOUBLE)
          ELSE ABS(score + (label - 1))
        END
      )
    )
    / NULLIF(SUM(weight), 0) AS logloss
  FROM predictions
  GROUP BY "CAMPAIGN", "DAY"
)
SELECT
  by_predictions."CAMPAIGN", by_predictions."DAY",
  by_thresholds.auc AS auc,
  by_predictions.logloss AS logloss
FROM by_predictions
LEFT JOIN by_thresholds
  ON by_thresholds."CAMPAIGN" IS NOT DISTINCT FROM by_predictions."CAMPAIGN"
  AND by_thresholds."DAY" IS NOT DISTINCT FROM by_predictions."DAY"
ORDER BY by_predictions."CAMPAIGN" NULLS FIRST, by_predictions."DAY" NULLS FIRST;
