-- positive_thresholds: one row per group and positive: score, weight, class weights above and below it, with ties by the rank column, and totals.
-- The order is by score, highest first, and by the rank column among equal scores, as in programs that pass through sorted rows one by one.
-- Materialize: all predictions are sorted.
-- Grain: rows of predictions
SELECT
  group_id, score,
  weight AS positives, -- weight of the positive
  weight * weight AS positive_squares, -- square of its weight
  CAST(0 AS DOUBLE) AS negatives, -- none are at the place of a positive
  positives_above, -- weight of the positives above it
  negatives_above, -- weight of the negatives above it
  positives_below, -- weight of the positives below it
  negatives_below, -- weight of the negatives below it
  total_positives, total_negatives,
  total_rows -- predictions of the group, of weight 0 too
FROM (
  -- one row per prediction
  SELECT
    predictions.*,
    COALESCE(SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) OVER (
      PARTITION BY group_id ORDER BY score DESC, rank ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS positives_above,
    COALESCE(SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) OVER (
      PARTITION BY group_id ORDER BY score DESC, rank ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS negatives_above,
    COALESCE(SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) OVER (
      PARTITION BY group_id ORDER BY score DESC, rank ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS positives_below,
    COALESCE(SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) OVER (
      PARTITION BY group_id ORDER BY score DESC, rank ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ), 0) AS negatives_below,
    SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) OVER (PARTITION BY group_id) AS total_positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) OVER (PARTITION BY group_id) AS total_negatives,
    COUNT(*) OVER (PARTITION BY group_id) AS total_rows
  FROM predictions
) AS row_weights
WHERE label = 1 AND weight > 0
