-- sqlrank 0.1.0 for DuckDB: ROC, one row per point
-- reads: shop.ads.impressions (predictions)
-- plan: score_order=rank; alternative: score_order=buckets, if a single group has more rows than
--   one worker can sort
-- predictions: weight is taken to be 1, since the table cannot be looked at. Map predictions.weight
--   to a column to read it
-- made by: sqlrank sql ROC --predictions shop.ads.impressions
WITH predictions AS NOT MATERIALIZED (
  -- One row per prediction. (shop.ads.impressions)
  SELECT CAST(score AS DOUBLE) AS score, CAST(label AS DOUBLE) AS label
  FROM shop.ads.impressions
), tied_predictions AS (
  -- One row per score and class. (tied_predictions.sql)
  SELECT
    score,
    CASE WHEN label = 1 THEN 1 ELSE 0 END AS label,  -- 1 of positives, else 0
    CAST(COUNT(*) AS DOUBLE) AS weight
  FROM predictions
  GROUP BY score, CASE WHEN label = 1 THEN 1 ELSE 0 END
), score_class_weights AS (
  -- One row per distinct score. (score_class_weights/by_class.sql)
  SELECT
    score,
    -- weight of the positives of this score
    SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives,
    -- weight of the negatives of this score
    SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives
  FROM tied_predictions
  GROUP BY score
), score_thresholds AS (
  -- One row per distinct score, with sums over higher and lower scores.
  -- (score_thresholds/by_window.sql)
  SELECT
    score, positives, negatives,
    COALESCE(SUM(positives) OVER preceding_rows, 0) AS positives_above,
    COALESCE(SUM(negatives) OVER preceding_rows, 0) AS negatives_above,
    SUM(positives) OVER () AS total_positives, SUM(negatives) OVER () AS total_negatives
  FROM score_class_weights
  WINDOW preceding_rows AS (ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
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
    ) AS BIGINT) AS segment
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
    0 AS point, CAST(NULL AS DOUBLE) AS threshold,
    0 / NULLIF(SUM(1 - label), 0) AS fpr, 0 / NULLIF(SUM(label), 0) AS tpr
  FROM predictions
)
SELECT CAST(point AS BIGINT) AS point, threshold, fpr, tpr
FROM roc
ORDER BY point;
