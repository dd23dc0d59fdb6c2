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
    `campaign`,
    score,
    CASE WHEN label = 1 THEN weight ELSE 0 END AS positives,
    CASE WHEN label = 1 THEN weight * weight ELSE 0 END AS squares,
    CASE WHEN label = 1 THEN 0 ELSE weight END AS negatives,
    weight * label AS observed,
    1 AS tied_rows
  FROM (
    SELECT
      `campaign`,
      `click` AS label,
      `p_click` AS score,
      (CAST(1 AS FLOAT64) / CAST(`propensity` AS FLOAT64)) AS weight
    FROM shop.ads.impressions
    WHERE
      `day` = '2026-01-01'
  ) AS predictions
), heights AS (
  /* one row of amounts with the cell of the score axis that its score falls in, and its place there,
   from 0 to 1. */
  SELECT
    `campaign`,
    score,
    positives,
    squares,
    negatives,
    observed,
    tied_rows,
    CAST(FLOOR(height) AS INT64) AS cell,
    height - FLOOR(height) AS place
  FROM (
    SELECT
      `campaign`,
      score,
      positives,
      squares,
      negatives,
      observed,
      tied_rows,
      4096 * (CASE WHEN score < 0 THEN -1 ELSE 1 END) * (
        CASE
          WHEN size <= CAST(0.5 AS FLOAT64)
          THEN bent
          WHEN size <= 1
          THEN CAST(1.92 AS FLOAT64) - bent
          ELSE CAST(2.92 AS FLOAT64) - bent
        END
      ) AS height
    FROM (
      SELECT
        `campaign`,
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
                  WHEN size <= CAST(0.5 AS FLOAT64)
                  THEN size
                  WHEN size <= 1
                  THEN 1 - size
                  ELSE CAST(1 AS FLOAT64) / CAST(size AS FLOAT64)
                END
              )
            )
          )
        ) AS bent
      FROM (
        SELECT
          `campaign`,
          score,
          positives,
          squares,
          negatives,
          observed,
          tied_rows,
          ABS(CAST(score AS FLOAT64)) AS size
        FROM amounts
      ) AS sized
    ) AS distant
  ) AS high
), crowded AS (
  /* one row per cell that holds more than 1/256 of all predictions, with the mean place of those in it;
   made of integers, so that it is the same however often and in whatever order an engine adds it
   up. */
  SELECT
    c.`campaign`,
    c.cell,
    CAST(c.places AS FLOAT64) / CAST(c.cell_rows AS FLOAT64) / CAST(16777216 AS FLOAT64) AS centre
  FROM (
    SELECT
      `campaign`,
      cell,
      SUM(tied_rows * CAST(FLOOR(16777216 * place) AS INT64)) AS places,
      SUM(tied_rows) AS cell_rows
    FROM heights
    GROUP BY
      `campaign`,
      cell
  ) AS c
  CROSS JOIN (
    SELECT
      COUNT(*) AS all_rows
    FROM (
      SELECT
        `campaign`,
        `click` AS label,
        `p_click` AS score,
        (CAST(1 AS FLOAT64) / CAST(`propensity` AS FLOAT64)) AS weight
      FROM shop.ads.impressions
      WHERE
        `day` = '2026-01-01'
    ) AS predictions
  ) AS n
  WHERE
    256 * c.cell_rows > n.all_rows
), placed AS (
  /* one row of amounts with its bucket, numbered upwards: a cell, or, where it is crowded, a part of a
   cell, the narrower the nearer it is to the mean of the crowd. */
  SELECT
    h.`campaign`,
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
    ) AS INT64) AS bucket
  FROM heights AS h
  LEFT JOIN crowded AS c
    ON (c.`campaign` IS NOT DISTINCT FROM h.`campaign`) AND c.cell = h.cell
), buckets AS (
  /* one row per bucket of scores with the weight of each class in the buckets above and below it. axis
   is one value for all: these few rows are one machine's work, which engines warn of if a window
   has no partition. */
  SELECT
    `campaign`,
    bucket,
    COALESCE(
      SUM(positives) OVER (PARTITION BY `campaign`, axis ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS positives_above,
    COALESCE(
      SUM(negatives) OVER (PARTITION BY `campaign`, axis ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS negatives_above,
    COALESCE(
      SUM(positives) OVER (PARTITION BY `campaign`, axis ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS positives_below,
    COALESCE(
      SUM(negatives) OVER (PARTITION BY `campaign`, axis ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS negatives_below,
    COALESCE(
      SUM(bucket_rows) OVER (PARTITION BY `campaign`, axis ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS rows_below,
    SUM(positives) OVER (PARTITION BY `campaign`, axis) AS all_positives,
    SUM(negatives) OVER (PARTITION BY `campaign`, axis) AS all_negatives,
    SUM(bucket_rows) OVER (PARTITION BY `campaign`, axis) AS all_rows
  FROM (
    SELECT
      `campaign`,
      bucket,
      MIN(CASE WHEN score IS NULL THEN 1 ELSE 0 END) AS axis,
      SUM(positives) AS positives,
      SUM(negatives) AS negatives,
      SUM(tied_rows) AS bucket_rows
    FROM placed
    GROUP BY
      `campaign`,
      bucket
  ) AS totals
), bucket_scores AS (
  /* one row per distinct score with its bucket and the weight of each class, added up. */
  SELECT
    `campaign`,
    bucket,
    score,
    SUM(positives) AS positives,
    SUM(squares) AS squares,
    SUM(negatives) AS negatives,
    SUM(observed) AS observed,
    SUM(tied_rows) AS tied_rows
  FROM placed
  GROUP BY
    `campaign`,
    bucket,
    score
), scores AS (
  /* one row per distinct score with the weight of each class at that score, above and below it, ordered
   bucket by bucket. */
  SELECT
    t.`campaign`,
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
      `campaign`,
      bucket,
      score,
      positives,
      squares,
      negatives,
      COALESCE(
        SUM(positives) OVER (PARTITION BY `campaign`, bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS positives_over,
      COALESCE(
        SUM(negatives) OVER (PARTITION BY `campaign`, bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS negatives_over,
      COALESCE(
        SUM(positives) OVER (PARTITION BY `campaign`, bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS positives_under,
      COALESCE(
        SUM(negatives) OVER (PARTITION BY `campaign`, bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS negatives_under
    FROM bucket_scores
  ) AS t
  JOIN buckets AS b
    ON (b.`campaign` IS NOT DISTINCT FROM t.`campaign`) AND b.bucket = t.bucket
), thresholds AS (
  /* one row per distinct score of a positive, from the distinct scores of all predictions: for few of
   them. */
  SELECT
    `campaign`,
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
    `campaign`,
    SUM(
      CAST(positives AS FLOAT64) / CAST(NULLIF(all_positives, 0) AS FLOAT64) * (
        CAST(negatives_below + CAST(0.5 AS FLOAT64) * negatives AS FLOAT64)
        / CAST(NULLIF(all_negatives, 0) AS FLOAT64)
      )
    ) AS auc,
    SUM(
      CAST(positives AS FLOAT64) / CAST(NULLIF(all_positives, 0) AS FLOAT64) * (
        CAST(positives_above + positives AS FLOAT64)
        / CAST(NULLIF(positives_above + positives + negatives_above + negatives, 0) AS FLOAT64)
      )
    ) AS aps
  FROM thresholds
  GROUP BY
    `campaign`
), by_predictions AS (
  /* one row per group: the metrics that read this relation */
  SELECT
    `campaign`,
    CAST(-SUM(
      weight * LN(
        CAST(CASE
          WHEN ABS(score + (label - 1)) <= CAST('2.220446049250313e-16' AS FLOAT64)
          THEN CAST('2.220446049250313e-16' AS FLOAT64)
          WHEN ABS(score + (label - 1)) >= 1 - CAST('2.220446049250313e-16' AS FLOAT64)
          THEN 1 - CAST('2.220446049250313e-16' AS FLOAT64)
          ELSE ABS(score + (label - 1))
        END AS FLOAT64)
      )
    ) AS FLOAT64) / CAST(NULLIF(SUM(weight), 0) AS FLOAT64) AS logloss
  FROM (
    SELECT
      `campaign`,
      `click` AS label,
      `p_click` AS score,
      (CAST(1 AS FLOAT64) / CAST(`propensity` AS FLOAT64)) AS weight
    FROM shop.ads.impressions
    WHERE
      `day` = '2026-01-01'
  ) AS predictions
  GROUP BY
    `campaign`
)
SELECT
  by_predictions.`campaign`,
  CAST(by_thresholds.auc AS FLOAT64) AS auc,
  CAST(by_thresholds.aps AS FLOAT64) AS aps,
  CAST(by_predictions.logloss AS FLOAT64) AS logloss
FROM by_predictions
LEFT JOIN by_thresholds
  ON (by_thresholds.`campaign` IS NOT DISTINCT FROM by_predictions.`campaign`);
