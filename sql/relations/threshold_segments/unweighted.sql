-- threshold_segments: one row per group and distinct score of a positive, with the numbers of both classes at, above and below it.
-- One more row per group, with has_threshold 0, counts the negatives above the highest threshold. All weights must be 1: then the
-- negatives between two thresholds are a difference of cumulative counts.
-- Grain: group_id, has_threshold, threshold
SELECT
  group_id,
  1 AS has_threshold,
  score AS threshold,
  positives,
  positive_squares,
  positives AS positive_rows,
  negatives,
  negatives AS negative_squares,
  negatives AS negative_rows,
  negatives_between,
  negatives_between AS negative_squares_between,
  negatives_between AS negative_rows_between,
  positives_above,
  negatives_above,
  positives_below,
  negatives_below,
  total_positives,
  total_negatives,
  total_rows
FROM (
  SELECT
    group_id,
    score,
    CAST(positives AS DOUBLE) AS positives,
    CAST(positive_squares AS DOUBLE) AS positive_squares,
    CAST(negatives AS DOUBLE) AS negatives,
    CAST(negatives_below AS DOUBLE) - COALESCE(LEAD(CAST(negatives_below + negatives AS DOUBLE)) OVER (
      PARTITION BY group_id ORDER BY score DESC
    ), 0) AS negatives_between,
    CAST(positives_above AS DOUBLE) AS positives_above,
    CAST(negatives_above AS DOUBLE) AS negatives_above,
    CAST(positives_below AS DOUBLE) AS positives_below,
    CAST(negatives_below AS DOUBLE) AS negatives_below,
    CAST(total_positives AS DOUBLE) AS total_positives,
    CAST(total_negatives AS DOUBLE) AS total_negatives,
    total_rows
  FROM positive_thresholds
) AS between_two
UNION ALL
SELECT
  n.group_id,
  0 AS has_threshold,
  CAST(0 AS DOUBLE) AS threshold,
  CAST(0 AS DOUBLE) AS positives,
  CAST(0 AS DOUBLE) AS positive_squares,
  CAST(0 AS DOUBLE) AS positive_rows,
  CAST(0 AS DOUBLE) AS negatives,
  CAST(0 AS DOUBLE) AS negative_squares,
  CAST(0 AS DOUBLE) AS negative_rows,
  COALESCE(t.negatives_above_top, CAST(n.total_rows AS DOUBLE)) AS negatives_between,
  COALESCE(t.negatives_above_top, CAST(n.total_rows AS DOUBLE)) AS negative_squares_between,
  COALESCE(t.negatives_above_top, CAST(n.total_rows AS DOUBLE)) AS negative_rows_between,
  CAST(0 AS DOUBLE) AS positives_above,
  CAST(0 AS DOUBLE) AS negatives_above,
  COALESCE(t.total_positives, 0) AS positives_below,
  COALESCE(t.total_negatives, CAST(n.total_rows AS DOUBLE)) AS negatives_below,
  COALESCE(t.total_positives, 0) AS total_positives,
  COALESCE(t.total_negatives, CAST(n.total_rows AS DOUBLE)) AS total_negatives,
  n.total_rows
FROM group_sizes AS n
LEFT JOIN (
  SELECT
    group_id,
    CAST(MIN(negatives_above) AS DOUBLE) AS negatives_above_top,
    CAST(MAX(total_positives) AS DOUBLE) AS total_positives,
    CAST(MAX(total_negatives) AS DOUBLE) AS total_negatives
  FROM positive_thresholds
  GROUP BY group_id
) AS t ON t.group_id = n.group_id
