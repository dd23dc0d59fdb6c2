-- sqlrank 0.1.0: AUC, APS, LogLoss
--   functions/log_likelihood/clipped.sql
--   functions/no_relevant/skip.sql
--   metrics/classification/aps.sql
--   metrics/classification/auc.sql
--   metrics/classification/logloss.sql
--   relations/buckets.sql
--   relations/cells.sql
--   relations/heights.sql
--   relations/placed.sql
--   relations/thresholds/bucketed.sql
--   strategy: bucketed
CREATE TABLE shop.ads.daily_metrics AS
WITH heights AS (
  /* one row per prediction with the cell of the score axis that it falls in. */
  SELECT
    `campaign`,
    label,
    score,
    weight,
    CAST(FLOOR(32 * (CASE WHEN score > 0 THEN from_zero WHEN score < 0 THEN -from_zero ELSE 0 END - to_one)) AS BIGINT) AS cell
  FROM (
    SELECT
      `campaign`,
      label,
      score,
      weight,
      CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-30' AS DOUBLE) * inverse AS DOUBLE)
      + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-27' AS DOUBLE) * inverse AS DOUBLE)
      + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-24' AS DOUBLE) * inverse AS DOUBLE)
      + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-21' AS DOUBLE) * inverse AS DOUBLE)
      + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-18' AS DOUBLE) * inverse AS DOUBLE)
      + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-15' AS DOUBLE) * inverse AS DOUBLE)
      + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-12' AS DOUBLE) * inverse AS DOUBLE)
      + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-9' AS DOUBLE) * inverse AS DOUBLE)
      + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-6' AS DOUBLE) * inverse AS DOUBLE)
      + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-3' AS DOUBLE) * inverse AS DOUBLE)
      + CAST(1 AS DOUBLE) / CAST(1 + inverse AS DOUBLE)
      + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e3' AS DOUBLE) * inverse AS DOUBLE)
      + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e6' AS DOUBLE) * inverse AS DOUBLE)
      + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e9' AS DOUBLE) * inverse AS DOUBLE) AS from_zero,
      CASE
        WHEN score >= 1
        THEN 0
        WHEN score <= 0
        THEN 5
        ELSE CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-3' AS DOUBLE) / CAST(1 - score AS DOUBLE) AS DOUBLE)
        + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-6' AS DOUBLE) / CAST(1 - score AS DOUBLE) AS DOUBLE)
        + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-9' AS DOUBLE) / CAST(1 - score AS DOUBLE) AS DOUBLE)
        + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-12' AS DOUBLE) / CAST(1 - score AS DOUBLE) AS DOUBLE)
        + CAST(1 AS DOUBLE) / CAST(1 + CAST('1e-15' AS DOUBLE) / CAST(1 - score AS DOUBLE) AS DOUBLE)
      END AS to_one
    FROM (
      SELECT
        `campaign`,
        label,
        score,
        weight,
        CASE
          WHEN score > CAST('1e-250' AS DOUBLE)
          THEN CAST(1 AS DOUBLE) / CAST(score AS DOUBLE)
          WHEN score < -CAST('1e-250' AS DOUBLE)
          THEN CAST(-1 AS DOUBLE) / CAST(score AS DOUBLE)
          ELSE CAST('1e250' AS DOUBLE)
        END AS inverse
      FROM (
        SELECT
          `campaign`,
          `click` AS label,
          `p_click` AS score,
          (CAST(1 AS DOUBLE) / CAST(`propensity` AS DOUBLE)) AS weight
        FROM shop.ads.impressions
        WHERE
          `day` = '2026-01-01'
      ) AS predictions
    ) AS inverted
  ) AS bent
), cells AS (
  /* one row per cell of the score axis that holds predictions, with its bounds and the number of parts
   that it is cut into: a thousand to a list, shared out by how many predictions a cell holds. */
  SELECT
    `campaign`,
    cell,
    lowest,
    highest,
    1
    + FLOOR(CAST(1000 * cell_rows AS DOUBLE) / CAST(SUM(cell_rows) OVER (PARTITION BY `campaign`) AS DOUBLE)) AS parts
  FROM (
    SELECT
      `campaign`,
      cell,
      MIN(score) AS lowest,
      MAX(score) AS highest,
      COUNT(*) AS cell_rows
    FROM heights
    GROUP BY
      `campaign`,
      cell
  ) AS counted
), placed AS (
  /* one row per prediction with its bucket: the part of its cell that it falls in, numbered upwards. */
  SELECT
    h.`campaign`,
    h.label,
    h.score,
    h.weight,
    2000 * h.cell + CAST(CASE
      WHEN h.score = c.highest
      THEN c.parts
      WHEN h.score = c.lowest
      THEN 0
      WHEN c.highest - c.lowest > CAST('1e300' AS DOUBLE)
      THEN 1
      ELSE FLOOR(c.parts * (CAST(h.score - c.lowest AS DOUBLE) / CAST(c.highest - c.lowest AS DOUBLE)))
    END AS BIGINT) AS bucket
  FROM heights AS h
  JOIN cells AS c
    ON (c.`campaign` IS NOT DISTINCT FROM h.`campaign`) AND c.cell = h.cell
), buckets AS (
  /* one row per bucket of scores with the weight of each class in the buckets above and below it. */
  SELECT
    `campaign`,
    bucket,
    positives,
    COALESCE(
      SUM(positives) OVER (PARTITION BY `campaign` ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS positives_above,
    COALESCE(
      SUM(negatives) OVER (PARTITION BY `campaign` ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS negatives_above,
    COALESCE(
      SUM(positives) OVER (PARTITION BY `campaign` ORDER BY bucket DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING),
      0
    ) AS positives_below,
    COALESCE(
      SUM(negatives) OVER (PARTITION BY `campaign` ORDER BY bucket DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING),
      0
    ) AS negatives_below,
    SUM(positives) OVER (PARTITION BY `campaign`) AS all_positives,
    SUM(negatives) OVER (PARTITION BY `campaign`) AS all_negatives,
    SUM(bucket_rows) OVER (PARTITION BY `campaign`) AS all_rows
  FROM (
    SELECT
      `campaign`,
      bucket,
      SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
      SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives,
      COUNT(*) AS bucket_rows
    FROM placed
    GROUP BY
      `campaign`,
      bucket
  ) AS totals
), thresholds AS (
  /* one row per distinct score of a positive, with the weight of each class at it, above and below it. */
  SELECT
    t.`campaign`,
    t.score,
    t.positives,
    t.squares,
    t.negatives,
    b.positives_above + t.positives_over AS positives_above,
    b.negatives_above + t.negatives_over AS negatives_above,
    b.positives_below + t.positives_under AS positives_below,
    b.negatives_below + t.negatives_under AS negatives_below,
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
        SUM(positives) OVER (PARTITION BY `campaign`, bucket ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING),
        0
      ) AS positives_under,
      COALESCE(
        SUM(negatives) OVER (PARTITION BY `campaign`, bucket ORDER BY score DESC ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING),
        0
      ) AS negatives_under
    FROM (
      SELECT
        p.`campaign`,
        p.bucket,
        p.score,
        SUM(CASE WHEN p.label = 1 THEN p.weight ELSE 0 END) AS positives,
        SUM(CASE WHEN p.label = 1 THEN p.weight * p.weight ELSE 0 END) AS squares,
        SUM(CASE WHEN p.label = 1 THEN 0 ELSE p.weight END) AS negatives
      FROM placed AS p
      JOIN buckets AS m
        ON (m.`campaign` IS NOT DISTINCT FROM p.`campaign`) AND m.bucket = p.bucket
      WHERE
        m.positives > 0
      GROUP BY
        p.`campaign`,
        p.bucket,
        p.score
    ) AS tied
  ) AS t
  JOIN buckets AS b
    ON (b.`campaign` IS NOT DISTINCT FROM t.`campaign`) AND b.bucket = t.bucket
  WHERE
    t.positives > 0
), by_thresholds AS (
  /* one row per group: the metrics that read this relation */
  SELECT
    `campaign`,
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
    `campaign`
), by_predictions AS (
  /* one row per group: the metrics that read this relation */
  SELECT
    `campaign`,
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
      `campaign`,
      `click` AS label,
      `p_click` AS score,
      (CAST(1 AS DOUBLE) / CAST(`propensity` AS DOUBLE)) AS weight
    FROM shop.ads.impressions
    WHERE
      `day` = '2026-01-01'
  ) AS predictions
  GROUP BY
    `campaign`
)
SELECT
  by_predictions.`campaign`,
  CAST(by_thresholds.auc AS DOUBLE) AS auc,
  CAST(by_thresholds.aps AS DOUBLE) AS aps,
  CAST(by_predictions.logloss AS DOUBLE) AS logloss
FROM by_predictions
LEFT JOIN by_thresholds
  ON (by_thresholds.`campaign` IS NOT DISTINCT FROM by_predictions.`campaign`);
