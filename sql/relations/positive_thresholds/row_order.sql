-- positive_thresholds: one row per positive, with the weights of both classes before and after it in the order of scores.
-- Ties are broken by the rank column, as by programs that pass through sorted rows one by one.
-- Materialize: all predictions are sorted.
-- Grain: rows of predictions
SELECT
  group_id,
  score,
  weight AS positives,
  weight * weight AS positive_squares,
  CAST(0 AS DOUBLE) AS negatives,
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
    label,
    score,
    weight,
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
) AS running
WHERE label = 1 AND weight > 0
