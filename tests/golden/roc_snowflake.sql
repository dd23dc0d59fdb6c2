-- sqlrank 0.1.0: ROC
-- plan: score_order=buckets
-- for another: there is none for these metrics
WITH predictions AS (
  -- One row per prediction. (shop.ads.impressions)
  SELECT
    CAST(score AS DOUBLE) + 0 AS score,
    CAST(label AS DOUBLE) + 0 AS label,
    CAST(1 AS DOUBLE) AS weight
  FROM shop.ads.impressions
), class_weights AS (
  -- One row per prediction, with its weight as a positive and as a negative.
  -- (relations/class_weights/per_prediction.sql)
  SELECT
    score,
    CASE WHEN label = 1 THEN weight ELSE 0 END AS positives,
    CASE WHEN label = 1 THEN 0 ELSE weight END AS negatives,
    1 AS num_rows
  FROM predictions
), score_cells AS (
  -- One row per row of class_weights, with the grid cell of its score and its offset in the cell,
  -- from 0 to 1. (relations/score_cells.sql)
  SELECT
    score, positives, negatives, num_rows,
    CAST(FLOOR(grid_position) AS BIGINT) AS cell,
    grid_position - FLOOR(grid_position) AS cell_offset
  FROM (
    SELECT
      score, positives, negatives, num_rows,
      4096 * CASE WHEN score < 0 THEN -1 ELSE 1 END * CASE
        WHEN abs_score <= CAST(0.5 AS DOUBLE)
        THEN compressed_score
        WHEN abs_score <= 1
        THEN CAST(1.92 AS DOUBLE) - compressed_score
        ELSE CAST(2.92 AS DOUBLE) - compressed_score
      END AS grid_position
    FROM (
      SELECT
        score, positives, negatives, num_rows, abs_score,
        SQRT(
          SQRT(
            SQRT(
              SQRT(
                CASE
                  WHEN abs_score <= CAST(0.5 AS DOUBLE)
                  THEN abs_score
                  WHEN abs_score <= 1
                  THEN 1 - abs_score
                  ELSE 1 / abs_score
                END
              )
            )
          )
        ) AS compressed_score
      FROM (
        SELECT score, positives, negatives, num_rows, ABS(score) AS abs_score
        FROM class_weights
      ) AS sized
    ) AS distant
  ) AS high
), crowded_cells AS (
  -- One row per grid cell that has more than 1/256 of all predictions, with the mean offset of
  -- its scores. (relations/crowded_cells.sql)
  SELECT c.cell, CAST(c.offset_sum AS DOUBLE) / c.num_rows / 16777216 AS mean_offset
  FROM (
    SELECT
      cell,
      SUM(num_rows * CAST(FLOOR(16777216 * cell_offset) AS BIGINT)) AS offset_sum,
      SUM(num_rows) AS num_rows
    FROM score_cells
    GROUP BY cell
  ) AS c
  CROSS JOIN (
    SELECT COUNT(*) AS all_rows
    FROM predictions
  ) AS n
  WHERE 256 * c.num_rows > n.all_rows
), bucketed_scores AS (
  -- One row per row of class_weights, with the bucket of its score.
  -- (relations/bucketed_scores.sql)
  SELECT
    h.score, h.positives, h.negatives,
    131072 * h.cell
    + CAST(FLOOR(
      COALESCE(
        65536
        + 65535 * CASE WHEN h.cell_offset < c.mean_offset THEN -1 ELSE 1 END * SQRT(SQRT(SQRT(SQRT(ABS(h.cell_offset - c.mean_offset))))),
        0
      )
    ) AS BIGINT) AS bucket
  FROM score_cells AS h
  LEFT JOIN crowded_cells AS c ON c.cell = h.cell
), score_buckets AS (
  -- One row per score bucket, with the cumulative weights of each class above and below it.
  -- (relations/score_buckets.sql)
  SELECT
    bucket,
    COALESCE(
      SUM(positives) OVER (PARTITION BY constant_key ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS positives_above,
    COALESCE(
      SUM(negatives) OVER (PARTITION BY constant_key ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
      0
    ) AS negatives_above,
    SUM(positives) OVER (PARTITION BY constant_key) AS total_positives,
    SUM(negatives) OVER (PARTITION BY constant_key) AS total_negatives
  FROM (
    SELECT
      bucket,
      MIN(CASE WHEN score IS NULL THEN 1 ELSE 0 END) AS constant_key,
      SUM(positives) AS positives,
      SUM(negatives) AS negatives
    FROM bucketed_scores
    GROUP BY bucket
  ) AS totals
), bucket_score_weights AS (
  -- One row per distinct score, with its bucket and the weight of each class.
  -- (relations/bucket_score_weights/summed.sql)
  SELECT bucket, score, SUM(positives) AS positives, SUM(negatives) AS negatives
  FROM bucketed_scores
  GROUP BY bucket, score
), score_thresholds AS (
  -- One row per distinct score, with the weights of both classes at, above and below it.
  -- (relations/score_thresholds/by_bucket.sql)
  SELECT
    t.score, t.positives, t.negatives,
    b.positives_above + t.bucket_positives_above AS positives_above,
    b.negatives_above + t.negatives_over AS negatives_above,
    b.total_positives, b.total_negatives
  FROM (
    SELECT
      bucket, score, positives, negatives,
      COALESCE(
        SUM(positives) OVER (PARTITION BY bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS bucket_positives_above,
      COALESCE(
        SUM(negatives) OVER (PARTITION BY bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        0
      ) AS negatives_over
    FROM bucket_score_weights
  ) AS t
  JOIN score_buckets AS b ON b.bucket = t.bucket
), curve_segments AS (
  -- One row per distinct score, with the confusion matrix at that threshold and the curve segment
  -- of its point. (relations/curve_segments/equal_length.sql)
  SELECT
    score,
    positives_above + positives AS tp,
    negatives_above + negatives AS fp,
    total_positives, total_negatives,
    CAST(FLOOR(
      (1000 - 2) / CAST(4 AS DOUBLE) * (
        COALESCE((positives_above + positives) / NULLIF(total_positives, 0), 0)
        + COALESCE((negatives_above + negatives) / NULLIF(total_negatives, 0), 0)
        + CAST('1e-10' AS DOUBLE)
      )
    ) AS BIGINT) AS segment
  FROM score_thresholds
), curve_points AS (
  -- One row per point of a curve, with the confusion matrix at its threshold, highest threshold
  -- first. (relations/curve_points.sql)
  SELECT
    point, score,
    CASE WHEN next_score IS NULL OR tp > total_positives THEN total_positives ELSE tp END AS tp,
    CASE WHEN next_score IS NULL OR fp > total_negatives THEN total_negatives ELSE fp END AS fp,
    total_positives, total_negatives
  FROM (
    SELECT
      ROW_NUMBER() OVER (ORDER BY score DESC) AS point,
      LEAD(score) OVER (ORDER BY score DESC) AS next_score,
      score, tp, fp, total_positives, total_negatives
    FROM (
      SELECT
        score, tp, fp, total_positives, total_negatives,
        ROW_NUMBER() OVER (PARTITION BY segment ORDER BY score DESC) AS rank_from_start,
        ROW_NUMBER() OVER (PARTITION BY segment ORDER BY score) AS rank_from_end
      FROM curve_segments
    ) AS numbered
    WHERE rank_from_start = 1 OR rank_from_end = 1
  ) AS chosen
), group_sizes AS (
  -- One row, with its number of predictions. (relations/group_sizes.sql)
  SELECT COUNT(*) AS total_rows
  FROM predictions
), roc AS (
  -- True positive rate over false positive rate, from (0, 0); straight lines between its points
  -- enclose AUC. (curves/roc.sql)
  SELECT
    point,
    score AS threshold,
    fp / NULLIF(total_negatives, 0) AS fpr,
    tp / NULLIF(total_positives, 0) AS tpr
  FROM curve_points
  UNION ALL
  SELECT
    0 AS point,
    CAST(NULL AS DOUBLE) AS threshold,
    CAST(0 AS DOUBLE) AS fpr,
    CAST(0 AS DOUBLE) AS tpr
  FROM group_sizes
)
SELECT
  CAST(roc.point AS BIGINT) AS point,
  roc.threshold AS threshold,
  roc.fpr AS fpr,
  roc.tpr AS tpr
FROM roc
ORDER BY point NULLS FIRST;
