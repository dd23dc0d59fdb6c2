-- sqlrank 0.1.0: AUC, APS, LogLoss
--   functions/crowding/sixteenth_root.sql
--   functions/log_likelihood/clipped.sql
--   functions/no_relevant/skip.sql
--   functions/rest/added.sql
--   metrics/classification/aps.sql
--   metrics/classification/auc.sql
--   metrics/classification/logloss.sql
--   relations/amounts/single.sql
--   relations/bucket_scores/added.sql
--   relations/buckets.sql
--   relations/crowded.sql
--   relations/heights.sql
--   relations/placed.sql
--   relations/scores/bucketed.sql
--   relations/thresholds/grouped.sql
--   strategy: bucketed
CREATE OR REPLACE TABLE shop.ads.daily_metrics AS
WITH amounts AS (
  /* one row per prediction with its weight in its own class; squares is the square of that of a
   positive. */
  SELECT
    "CAMPAIGN",
    score,
    CASE WHEN label = 1 THEN weight ELSE 0 END AS positives,
    CASE WHEN label = 1 THEN weight * weight ELSE 0 END AS squares,
    CASE WHEN label = 1 THEN 0 ELSE weight END AS negatives,
    weight * label AS observed,
    1 AS tied_rows
  FROM (
    SELECT
      "CAMPAIGN",
      "CLICK" AS label,
      "P_CLICK" AS score,
      (CAST(1 AS DOUBLE) / CAST("PROPENSITY" AS DOUBLE)) AS weight
    FROM shop.ads.impressions
    WHERE
      "DAY" = '2026-01-01'
  ) AS predictions
), heights AS (
  /* one row of amounts with the cell of the score axis that its score falls in, and its place there,
   from 0 to 1. */
  SELECT
    "CAMPAIGN",
    score,
    positives,
    squares,
    negatives,
    observed,
    tied_rows,
    CAST(FLOOR(height) AS BIGINT) AS cell,
    height - FLOOR(height) AS place
  FROM (
    SELECT
      "CAMPAIGN",
      score,
      positives,
      squares,
      negatives,
      observed,
      tied_rows,
      4096 * (CASE WHEN score < 0 THEN -1 ELSE 1 END) * (
        CASE
          WHEN size <= CAST(0.5 AS DOUBLE)
          THEN bent
          WHEN size <= 1
          THEN CAST(1.92 AS DOUBLE) - bent
          ELSE CAST(2.92 AS DOUBLE) - bent
        END
      ) AS height
    FROM (
      SELECT
        "CAMPAIGN",
        score,
        positives,
        squares,
        negatives,
        observed,
        tied_rows,
        size,
        SQRT(
          SQRT(
            SQRT(
              SQRT(
                CASE
                  WHEN size <= CAST(0.5 AS DOUBLE)
                  THEN size
                  WHEN size <= 1
                  THEN 1 - size
                  ELSE CAST(1 AS DOUBLE) / CAST(size AS DOUBLE)
                END
              )
            )
          )
        ) AS bent
      FROM (
        SELECT
          "CAMPAIGN",
          score,
          positives,
          squares,
          negatives,
          observed,
          tied_rows,
          ABS(CAST(score AS DOUBLE)) AS size
        FROM amounts
      ) AS sized
    ) AS distant
  ) AS high
), crowded AS (
  /* one row per cell that holds more than 1/256 of all predictions, with the mean place of those in it;
   made of integers, so that it is the same however often and in whatever order an engine adds it
   up. */
  SELECT
    c."CAMPAIGN",
    c.cell,
    CAST(c.places AS DOUBLE) / CAST(c.cell_rows AS DOUBLE) / CAST(16777216 AS DOUBLE) AS centre
  FROM (
    SELECT
      "CAMPAIGN",
      cell,
      SUM(tied_rows * CAST(FLOOR(16777216 * place) AS BIGINT)) AS places,
      SUM(tied_rows) AS cell_rows
    FROM heights
    GROUP BY
      "CAMPAIGN",
      cell
  ) AS c
  CROSS JOIN (
    SELECT
      COUNT(*) AS all_rows
    FROM (
      SELECT
        "CAMPAIGN",
        "CLICK" AS label,
        "P_CLICK" AS score,
        (CAST(1 AS DOUBLE) / CAST("PROPENSITY" AS DOUBLE)) AS weight
      FROM shop.ads.impressions
      WHERE
        "DAY" = '2026-01-01'
    ) AS predictions
  ) AS n
  WHERE
    256 * c.cell_rows > n.all_rows
), placed AS (
  /* one row of amounts with its bucket, numbered upwards: a cell, or, where it is crowded, a part of a
   cell, the narrower the nearer it is to the mean of the crowd. */
  SELECT
    h."CAMPAIGN",
    h.score,
    h.positives,
    h.squares,
    h.negatives,
    h.observed,
    h.tied_rows,
    131072 * h.cell + CAST(FLOOR(
      COALESCE(
        65536
        + 65535 * (CASE WHEN h.place < c.centre THEN -1 ELSE 1 END) * SQRT(SQRT(SQRT(SQRT(ABS(h.place - c.centre))))),
        0
      )
    ) AS BIGINT) AS bucket
  FROM heights AS h
  LEFT JOIN crowded AS c
    ON (c."CAMPAIGN" IS NOT DISTINCT FROM h."CAMPAIGN") AND c.cell = h.cell
), buckets AS (
  /* one row per bucket of scores with the weight of each class in the buckets above and below it. axis
   is one value for all: these few rows are one machine's work, which engines warn of if a window
   has no partition. */
  SELECT
    "CAMPAIGN",
    bucket,
    COALESCE(
      SUM(positives) OVER (PARTITION BY "CAMPAIGN", axis ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS positives_above,
    COALESCE(
      SUM(negatives) OVER (PARTITION BY "CAMPAIGN", axis ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS negatives_above,
    COALESCE(
      SUM(positives) OVER (PARTITION BY "CAMPAIGN", axis ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS positives_below,
    COALESCE(
      SUM(negatives) OVER (PARTITION BY "CAMPAIGN", axis ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS negatives_below,
    COALESCE(
      SUM(bucket_rows) OVER (PARTITION BY "CAMPAIGN", axis ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS rows_below,
    SUM(positives) OVER (PARTITION BY "CAMPAIGN", axis) AS all_positives,
    SUM(negatives) OVER (PARTITION BY "CAMPAIGN", axis) AS all_negatives,
    SUM(bucket_rows) OVER (PARTITION BY "CAMPAIGN", axis) AS all_rows
  FROM (
    SELECT
      "CAMPAIGN",
      bucket,
      MIN(CASE WHEN score IS NULL THEN 1 ELSE 0 END) AS axis,
      SUM(positives) AS positives,
      SUM(negatives) AS negatives,
      SUM(tied_rows) AS bucket_rows
    FROM placed
    GROUP BY
      "CAMPAIGN",
      bucket
  ) AS totals
), bucket_scores AS (
  /* one row per distinct score with its bucket and the weight of each class, added up. */
  SELECT
    "CAMPAIGN",
    bucket,
    score,
    SUM(positives) AS positives,
    SUM(squares) AS squares,
    SUM(negatives) AS negatives,
    SUM(observed) AS observed,
    SUM(tied_rows) AS tied_rows
  FROM placed
  GROUP BY
    "CAMPAIGN",
    bucket,
    score
), scores AS (
  /* one row per distinct score with the weight of each class at that score, above and below it, ordered
   bucket by bucket. */
  SELECT
    t."CAMPAIGN",
    t.score,
    t.positives,
    t.squares,
    t.negatives,
    b.positives_above + t.positives_over AS positives_above,
    b.negatives_above + t.negatives_over AS negatives_above,
    (b.positives_below + t.positives_under) AS positives_below,
    (b.negatives_below + t.negatives_under) AS negatives_below,
    b.all_positives,
    b.all_negatives,
    b.all_rows
  FROM (
    SELECT
      "CAMPAIGN",
      bucket,
      score,
      positives,
      squares,
      negatives,
      COALESCE(
        SUM(positives) OVER (PARTITION BY "CAMPAIGN", bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS positives_over,
      COALESCE(
        SUM(negatives) OVER (PARTITION BY "CAMPAIGN", bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS negatives_over,
      COALESCE(
        SUM(positives) OVER (PARTITION BY "CAMPAIGN", bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS positives_under,
      COALESCE(
        SUM(negatives) OVER (PARTITION BY "CAMPAIGN", bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS negatives_under
    FROM bucket_scores
  ) AS t
  JOIN buckets AS b
    ON (b."CAMPAIGN" IS NOT DISTINCT FROM t."CAMPAIGN") AND b.bucket = t.bucket
), thresholds AS (
  /* one row per distinct score of a positive, from the distinct scores of all predictions: for few of
   them. */
  SELECT
    "CAMPAIGN",
    score,
    positives,
    squares,
    negatives,
    positives_above,
    negatives_above,
    positives_below,
    negatives_below,
    all_positives,
    all_negatives,
    all_rows
  FROM scores
  WHERE
    positives > 0
), by_thresholds AS (
  /* one row per group: the metrics that read this relation */
  SELECT
    "CAMPAIGN",
    SUM(
      CAST(positives AS DOUBLE) / CAST(NULLIF(all_positives, 0) AS DOUBLE) * (
        CAST(negatives_below + CAST(0.5 AS DOUBLE) * negatives AS DOUBLE)
        / CAST(NULLIF(all_negatives, 0) AS DOUBLE)
      )
    ) AS auc,
    SUM(
      CAST(positives AS DOUBLE) / CAST(NULLIF(all_positives, 0) AS DOUBLE) * (
        CAST(positives_above + positives AS DOUBLE)
        / CAST(NULLIF(positives_above + positives + negatives_above + negatives, 0) AS DOUBLE)
      )
    ) AS aps
  FROM thresholds
  GROUP BY
    "CAMPAIGN"
), by_predictions AS (
  /* one row per group: the metrics that read this relation */
  SELECT
    "CAMPAIGN",
    CAST(-SUM(
      weight * LN(
        CAST(CASE
          WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS DOUBLE)
          THEN CAST('2.220446049250313e-16' AS DOUBLE)
          WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS DOUBLE)
          THEN 1 - CAST('2.220446049250313e-16' AS DOUBLE)
          ELSE ABS(score + (label - 1))
        END AS DOUBLE)
      )
    ) AS DOUBLE) / CAST(NULLIF(SUM(weight), 0) AS DOUBLE) AS logloss
  FROM (
    SELECT
      "CAMPAIGN",
      "CLICK" AS label,
      "P_CLICK" AS score,
      (CAST(1 AS DOUBLE) / CAST("PROPENSITY" AS DOUBLE)) AS weight
    FROM shop.ads.impressions
    WHERE
      "DAY" = '2026-01-01'
  ) AS predictions
  GROUP BY
    "CAMPAIGN"
)
SELECT
  by_predictions."CAMPAIGN",
  CAST(by_thresholds.auc AS DOUBLE) AS auc,
  CAST(by_thresholds.aps AS DOUBLE) AS aps,
  CAST(by_predictions.logloss AS DOUBLE) AS logloss
FROM by_predictions
LEFT JOIN by_thresholds
  ON (by_thresholds."CAMPAIGN" IS NOT DISTINCT FROM by_predictions."CAMPAIGN");
