-- threshold_segments: one row per group and distinct score of a positive, and one above all: class counts at it, to the next, above and below it.
-- Note: The row above all has the negatives above the highest score of a positive, or all predictions of a group without a positive.
-- Counts are also columns of squares and rows, since all weights are 1.
-- The negatives between two thresholds are a difference of cumulative counts.
-- Grain: group_id, has_threshold, threshold
SELECT
  group_id,
  1 AS has_threshold, -- 0 for what is above the highest, else 1
  score AS threshold, -- score of a positive; 0 for what is above the highest
  positives, -- positives of this score
  positives AS positive_rows,
  positives AS positive_squares,
  negatives, -- negatives of this score
  negatives AS negative_rows,
  negatives AS negative_squares,
  negatives_between, -- negatives from here to the next lower threshold
  negatives_between AS negative_rows_between, -- negatives from here to the next lower threshold
  negatives_between AS negative_squares_between,
  positives_above, negatives_above, positives_below, negatives_below, total_positives,
  total_negatives
FROM (
  -- one row per group and distinct score of a positive
  SELECT
    group_id, score,
    CAST(positives AS DOUBLE) AS positives,
    CAST(negatives AS DOUBLE) AS negatives,
    CAST(negatives_below AS DOUBLE) - COALESCE(LEAD(CAST(negatives_below + negatives AS DOUBLE)) OVER (
      PARTITION BY group_id ORDER BY score DESC
    ), 0) AS negatives_between,
    CAST(positives_above AS DOUBLE) AS positives_above,
    CAST(negatives_above AS DOUBLE) AS negatives_above,
    CAST(positives_below AS DOUBLE) AS positives_below,
    CAST(negatives_below AS DOUBLE) AS negatives_below,
    CAST(total_positives AS DOUBLE) AS total_positives,
    CAST(total_negatives AS DOUBLE) AS total_negatives
  FROM positive_thresholds
) AS threshold_counts
UNION ALL
SELECT
  group_sizes.group_id,
  0 AS has_threshold,
  CAST(0 AS DOUBLE) AS threshold,
  CAST(0 AS DOUBLE) AS positives,
  CAST(0 AS DOUBLE) AS positive_rows,
  CAST(0 AS DOUBLE) AS positive_squares,
  CAST(0 AS DOUBLE) AS negatives,
  CAST(0 AS DOUBLE) AS negative_rows,
  CAST(0 AS DOUBLE) AS negative_squares,
  COALESCE(threshold_totals.negatives_above_top, CAST(group_sizes.total_rows AS DOUBLE)) AS negatives_between,
  COALESCE(threshold_totals.negatives_above_top, CAST(group_sizes.total_rows AS DOUBLE)) AS negative_rows_between,
  COALESCE(threshold_totals.negatives_above_top, CAST(group_sizes.total_rows AS DOUBLE)) AS negative_squares_between,
  CAST(0 AS DOUBLE) AS positives_above,
  CAST(0 AS DOUBLE) AS negatives_above,
  COALESCE(threshold_totals.total_positives, 0) AS positives_below,
  COALESCE(threshold_totals.total_negatives, CAST(group_sizes.total_rows AS DOUBLE)) AS negatives_below,
  COALESCE(threshold_totals.total_positives, 0) AS total_positives,
  COALESCE(threshold_totals.total_negatives, CAST(group_sizes.total_rows AS DOUBLE)) AS total_negatives
FROM group_sizes
LEFT JOIN (
  -- one row per group with a positive
  SELECT
    group_id,
    CAST(MIN(negatives_above) AS DOUBLE) AS negatives_above_top, -- above the highest threshold
    CAST(MAX(total_positives) AS DOUBLE) AS total_positives,
    CAST(MAX(total_negatives) AS DOUBLE) AS total_negatives
  FROM positive_thresholds
  GROUP BY group_id
) AS threshold_totals ON threshold_totals.group_id = group_sizes.group_id
