-- thresholds: one row per positive, highest score first, equal scores in the order of the rank column: what a program
-- computes that goes through sorted rows one by one.
-- Costly: all predictions are put in order.
SELECT
  group_id,
  score,
  weight AS positives,
  weight * weight AS squares,
  CAST(0 AS DOUBLE) AS negatives,
  positives_above,
  negatives_above,
  positives_below,
  negatives_below,
  all_positives,
  all_negatives,
  all_rows
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
    SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) OVER (PARTITION BY group_id) AS all_positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) OVER (PARTITION BY group_id) AS all_negatives,
    COUNT(*) OVER (PARTITION BY group_id) AS all_rows
  FROM predictions
) AS running
WHERE label = 1 AND weight > 0
