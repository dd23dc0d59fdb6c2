-- sqlrank 0.1.0 for BigQuery: ROC, one row per point
-- reads: shop.ads.impressions (predictions)
-- plan: score_order=buckets; alternative: score_order=window, if one worker can sort all rows, or
--   score_order=distinct, if many rows share each score
-- predictions: weight is taken to be 1, since the table cannot be looked at. Map predictions.weight
--   to a column to read it
-- made by: sqlrank sql ROC --predictions shop.ads.impressions --dialect bigquery
WITH predictions AS (
  -- One row per prediction. (shop.ads.impressions)
  SELECT CAST(score AS FLOAT64) AS score, CAST(label AS FLOAT64) AS label
  FROM shop.ads.impressions
), grid_positions AS (
  -- One row per prediction, with its place on a grid: the whole part is its cell, so that each is
  -- sorted on its own.
  SELECT
    score,
    CASE WHEN label = 1 THEN 1.0 ELSE 0 END AS positives,  -- weight of a positive, else 0
    CASE WHEN label = 1 THEN 0 ELSE 1.0 END AS negatives,  -- weight of a negative, else 0
    -- grows with score; cells finest at 0 and just inside 1, -1
    4096 * CASE WHEN score < 0 THEN -1 ELSE 1 END
    * CASE
      WHEN ABS(score) <= 0.5 THEN SQRT(SQRT(SQRT(SQRT(ABS(score)))))
      WHEN ABS(score) <= 1 THEN 1.92 - SQRT(SQRT(SQRT(SQRT(1 - ABS(score)))))
      ELSE 2.92 - SQRT(SQRT(SQRT(SQRT(1 / ABS(score)))))
    END AS grid_position
  FROM predictions
), score_cells AS (
  -- One row per prediction. (score_cells.sql)
  SELECT
    score, positives, negatives,
    CAST(FLOOR(grid_position) AS INT64) AS cell,  -- number of the grid cell of the score, ascending
    grid_position - FLOOR(grid_position) AS cell_offset  -- position in the cell, from 0 to 1
  FROM grid_positions
), cell_means AS (
  -- One row per grid cell, with the mean place of scores in it.
  SELECT
    cell,
    -- mean of offsets cut to 24 bits; same in any summing order
    AVG(FLOOR(16777216 * cell_offset)) / 16777216 AS mean_offset,
    COUNT(*) AS num_rows
  FROM score_cells
  GROUP BY cell
), prediction_counts AS (
  -- One row: the number of all predictions.
  SELECT COUNT(*) AS num_predictions FROM predictions
), crowded_cells AS (
  -- One row per grid cell that has more than 1/256 of all predictions. (crowded_cells.sql)
  SELECT
    cell_means.cell,
    cell_means.mean_offset  -- mean position of scores, 0 to 1
  FROM cell_means
  CROSS JOIN prediction_counts
  WHERE 256 * cell_means.num_rows > prediction_counts.num_predictions
), bucketed_scores AS (
  -- One row per prediction, with its bucket, a cell of the grid or part of a crowded one. Buckets
  -- only split the sort: metrics stay exact. A cell has 131072 numbers: 0 if whole, 1 to 131071 for
  -- parts if crowded. (bucketed_scores.sql)
  SELECT
    score_cells.score, score_cells.positives, score_cells.negatives,
    -- bucket number; parts of crowded cells finest at the mean
    131072 * score_cells.cell
    + CAST(FLOOR(
      COALESCE(
        65536
        + 65535 * CASE WHEN score_cells.cell_offset < crowded_cells.mean_offset THEN -1 ELSE 1 END
        * SQRT(SQRT(SQRT(SQRT(ABS(score_cells.cell_offset - crowded_cells.mean_offset))))),
        0
      )
    ) AS INT64) AS bucket
  FROM score_cells
  LEFT JOIN crowded_cells ON crowded_cells.cell = score_cells.cell
), bucket_weights AS (
  -- One row per bucket.
  SELECT
    bucket,
    -- 0 in every row, so that all buckets are one partition
    MIN(CASE WHEN score IS NULL THEN 1 ELSE 0 END) AS constant_key,
    SUM(positives) AS positives, SUM(negatives) AS negatives
  FROM bucketed_scores
  GROUP BY bucket
), bucket_sums AS (
  -- One row per bucket of neighboring scores. (bucket_sums.sql)
  SELECT
    bucket,  -- number of the bucket, ascending with the score
    COALESCE(SUM(positives) OVER preceding_rows, 0) AS positives_above,  -- in higher buckets
    COALESCE(SUM(negatives) OVER preceding_rows, 0) AS negatives_above,  -- in higher buckets
    SUM(positives) OVER (PARTITION BY constant_key) AS total_positives,
    SUM(negatives) OVER (PARTITION BY constant_key) AS total_negatives
  FROM bucket_weights
  WINDOW preceding_rows AS (
    PARTITION BY constant_key ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
), bucket_score_weights AS (
  -- One row per distinct score. (bucket_score_weights/summed.sql)
  SELECT
    bucket, score,
    SUM(positives) AS positives,  -- weight of the positives of this score
    SUM(negatives) AS negatives  -- weight of the negatives of this score
  FROM bucketed_scores
  GROUP BY bucket, score
), score_sums AS (
  -- One row per distinct score, with sums over other scores in its bucket.
  SELECT
    score, positives, negatives, bucket,
    COALESCE(SUM(positives) OVER preceding_rows, 0) AS bucket_positives_above,
    COALESCE(SUM(negatives) OVER preceding_rows, 0) AS bucket_negatives_above
  FROM bucket_score_weights
  WINDOW preceding_rows AS (
    PARTITION BY bucket ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
), score_thresholds AS (
  -- One row per distinct score, with sums over higher and lower scores, by buckets.
  -- (score_thresholds/by_bucket.sql)
  SELECT
    score_sums.score, score_sums.positives, score_sums.negatives,
    bucket_sums.positives_above + score_sums.bucket_positives_above AS positives_above,
    bucket_sums.negatives_above + score_sums.bucket_negatives_above AS negatives_above,
    bucket_sums.total_positives, bucket_sums.total_negatives
  FROM score_sums
  INNER JOIN bucket_sums ON bucket_sums.bucket = score_sums.bucket
), curve_segments AS (
  -- One row per distinct score of positive weight. (curve_segments/equal_length.sql)
  SELECT
    score,
    positives_above + positives AS tp,  -- weight of true positives at this threshold
    negatives_above + negatives AS fp,  -- weight of false positives
    total_positives, total_negatives,
    -- number of the segment, from the highest score
    CAST(FLOOR(
      998 / 4 * (
        COALESCE((positives_above + positives) / NULLIF(total_positives, 0), 0)
        + COALESCE((negatives_above + negatives) / NULLIF(total_negatives, 0), 0) + 1e-10
      )
    ) AS INT64) AS segment
  FROM score_thresholds
  WHERE positives + negatives > 0
), segment_ranks AS (
  -- One row per distinct score.
  SELECT
    score, total_positives, total_negatives, tp, fp,
    ROW_NUMBER() OVER (PARTITION BY segment ORDER BY score DESC) AS rank_from_start,
    ROW_NUMBER() OVER (PARTITION BY segment ORDER BY score) AS rank_from_end
  FROM curve_segments
), threshold_points AS (
  -- One row per point of the curve.
  SELECT
    score, total_positives, total_negatives, tp, fp,
    ROW_NUMBER() OVER (ORDER BY score DESC) AS point,
    LEAD(score) OVER (ORDER BY score DESC) AS next_score
  FROM segment_ranks
  WHERE rank_from_start = 1 OR rank_from_end = 1
), roc AS (
  -- One row per threshold: true and false positive rate, from (0, 0); straight lines between them
  -- enclose AUC. (metrics/predictions/roc_curve.sql)
  SELECT
    point,  -- number of the point, 0 at (0, 0)
    score AS threshold,  -- lowest score predicted positive; NULL at (0, 0)
    CASE WHEN next_score IS NULL OR fp > total_negatives THEN total_negatives ELSE fp END
    / NULLIF(total_negatives, 0) AS fpr,  -- false positive rate
    CASE WHEN next_score IS NULL OR tp > total_positives THEN total_positives ELSE tp END
    / NULLIF(total_positives, 0) AS tpr  -- true positive rate
  FROM threshold_points
  UNION ALL
  SELECT
    0 AS point, CAST(NULL AS FLOAT64) AS threshold,
    0 / NULLIF(SUM(1 - label), 0) AS fpr, 0 / NULLIF(SUM(label), 0) AS tpr
  FROM predictions
)
SELECT CAST(point AS INT64) AS point, threshold, fpr, tpr
FROM roc
ORDER BY point;
