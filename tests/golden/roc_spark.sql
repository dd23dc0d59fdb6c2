-- sqlrank 0.1.0: ROC
-- plan: order=bucketed
-- for another: there is none for these metrics
WITH predictions AS (
  /* predictions: what was predicted: a row per example */
  SELECT
    CAST(score AS DOUBLE) AS score,
    CAST(label AS DOUBLE) AS label,
    CAST(1 AS DOUBLE) AS weight
  FROM shop.ads.impressions
), tied AS (
  /* relations/tied.sql: one row per distinct score with the weight of each class; squares is the sum of
   the squared weights of positives. */
  SELECT
    score,
    SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives,
    COUNT(*) AS tied_rows
  FROM predictions
  GROUP BY score
), heights AS (
  /* RAND makes Spark compute this once for all that read it: it repeats what is deterministic */
  SELECT
    *
  FROM (
    /* relations/heights.sql: one row of amounts with the cell of the score axis that its score falls in,
   and its place there, from 0 to 1. */
    SELECT
      score, positives, negatives, tied_rows,
      CAST(FLOOR(height) AS BIGINT) AS cell,
      height - FLOOR(height) AS place
    FROM (
      SELECT
        score, positives, negatives, tied_rows,
        4096 * CASE WHEN score < 0 THEN -1 ELSE 1 END * CASE WHEN size <= 0.5e0 THEN bent WHEN size <= 1 THEN 1.92e0 - bent ELSE 2.92e0 - bent END AS height
      FROM (
        SELECT
          score, positives, negatives, tied_rows, size,
          SQRT(SQRT(SQRT(SQRT(CASE WHEN size <= 0.5e0 THEN size WHEN size <= 1 THEN 1 - size ELSE 1 / size END)))) AS bent
        FROM (
          SELECT
            score, positives, negatives, tied_rows,
            ABS(score) AS size
          FROM tied AS amounts
        ) AS sized
      ) AS distant
    ) AS high
  ) AS once
  WHERE RAND() >= 0
), crowded AS (
  /* relations/crowded.sql: one row per cell that holds more than 1/256 of all predictions, with the mean
   place of those in it; made of integers, so that it is the same however often and in whatever
   order an engine adds it up. */
  SELECT
    c.cell,
    c.places / c.cell_rows / 16777216 AS centre
  FROM (
    SELECT
      cell,
      SUM(tied_rows * CAST(FLOOR(16777216 * place) AS BIGINT)) AS places,
      SUM(tied_rows) AS cell_rows
    FROM heights
    GROUP BY cell
  ) AS c
  CROSS JOIN (
    SELECT
      COUNT(*) AS all_rows
    FROM predictions
  ) AS n
  WHERE 256 * c.cell_rows > n.all_rows
), placed AS (
  /* relations/placed.sql: one row of amounts with its bucket, numbered upwards: a cell, or, where it is
   crowded, a part of a cell, the narrower the nearer it is to the mean of the crowd. */
  SELECT
    h.score, h.positives, h.negatives,
    131072 * h.cell
    + CAST(FLOOR(
      COALESCE(
        65536
        + 65535 * CASE WHEN h.place < c.centre THEN -1 ELSE 1 END * SQRT(SQRT(SQRT(SQRT(ABS(h.place - c.centre))))),
        0
      )
    ) AS BIGINT) AS bucket
  FROM heights AS h
  LEFT JOIN crowded AS c ON c.cell = h.cell
), buckets AS (
  /* relations/buckets.sql: one row per bucket of scores with the weight of each class in the buckets
   above and below it. axis is one value for all: these few rows are one machine's work, which
   engines warn of if a window has no partition. */
  SELECT
    bucket,
    COALESCE(
      SUM(positives) OVER (PARTITION BY axis ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS positives_above,
    COALESCE(
      SUM(negatives) OVER (PARTITION BY axis ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS negatives_above,
    SUM(positives) OVER (PARTITION BY axis) AS all_positives,
    SUM(negatives) OVER (PARTITION BY axis) AS all_negatives
  FROM (
    SELECT
      bucket,
      MIN(CASE WHEN score IS NULL THEN 1 ELSE 0 END) AS axis,
      SUM(positives) AS positives,
      SUM(negatives) AS negatives
    FROM placed
    GROUP BY bucket
  ) AS totals
), scores AS (
  /* relations/scores/bucketed.sql: one row per distinct score with the weight of each class at that
   score, above and below it, ordered bucket by bucket. */
  SELECT
    t.score, t.positives, t.negatives,
    b.positives_above + t.positives_over AS positives_above,
    b.negatives_above + t.negatives_over AS negatives_above,
    b.all_positives, b.all_negatives
  FROM (
    SELECT
      bucket, score, positives, negatives,
      COALESCE(
        SUM(positives) OVER (PARTITION BY bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS positives_over,
      COALESCE(
        SUM(negatives) OVER (PARTITION BY bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS negatives_over
    FROM placed AS bucket_scores
  ) AS t
  JOIN buckets AS b ON b.bucket = t.bucket
), pieces AS (
  /* relations/pieces/length.sql: one row per distinct score with the weights of both classes from that
   score up, and the piece of the curve that it falls in. */
  SELECT
    score,
    positives_above + positives AS tp,
    negatives_above + negatives AS fp,
    all_positives, all_negatives,
    CAST(FLOOR(
      (1000 - 2) / 4 * (
        COALESCE((positives_above + positives) / NULLIF(all_positives, 0), 0)
        + COALESCE((negatives_above + negatives) / NULLIF(all_negatives, 0), 0)
      )
    ) AS BIGINT) AS piece
  FROM scores
), points AS (
  /* relations/points.sql: one row per distinct score that a curve keeps, highest first: the first and
   the last of each piece. */
  SELECT
    ROW_NUMBER() OVER (ORDER BY score DESC) AS point,
    score, tp, fp, all_positives, all_negatives
  FROM (
    SELECT
      score, tp, fp, all_positives, all_negatives,
      ROW_NUMBER() OVER (PARTITION BY piece ORDER BY score DESC) AS from_first,
      ROW_NUMBER() OVER (PARTITION BY piece ORDER BY score) AS from_last
    FROM pieces
  ) AS numbered
  WHERE from_first = 1 OR from_last = 1
), totals AS (
  /* relations/totals.sql: one row per group: how many predictions it has. */
  SELECT
    COUNT(*) AS all_rows
  FROM predictions
), roc AS (
  /* curves/roc.sql: true positive rate over false positive rate, from (0, 0); straight lines between its
   points enclose AUC. */
  SELECT
    point,
    score AS threshold,
    fp / NULLIF(all_negatives, 0) AS fpr,
    tp / NULLIF(all_positives, 0) AS tpr
  FROM points
  UNION ALL
  SELECT
    0 AS point,
    CAST(NULL AS DOUBLE) AS threshold,
    CAST(0 AS DOUBLE) AS fpr,
    CAST(0 AS DOUBLE) AS tpr
  FROM totals
)
SELECT
  CAST(roc.point AS BIGINT) AS point,
  roc.threshold AS threshold,
  roc.fpr AS fpr,
  roc.tpr AS tpr
FROM roc
ORDER BY point;
