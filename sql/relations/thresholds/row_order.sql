-- thresholds: one row per positive, highest score first, equal scores in the order of the rank column: what a program
-- computes that goes through sorted rows one by one.
SELECT
  list_id,
  score,
  weight AS positives,
  weight * weight AS squares,
  CAST(0 AS DOUBLE) AS negatives,
  positives_upto - weight AS positives_above,
  negatives_above,
  all_positives,
  all_negatives,
  all_rows
FROM (
  SELECT
    list_id,
    label,
    score,
    weight,
    SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) OVER (
      PARTITION BY list_id ORDER BY score DESC, rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS positives_upto,
    SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) OVER (
      PARTITION BY list_id ORDER BY score DESC, rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS negatives_above,
    SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) OVER (PARTITION BY list_id) AS all_positives,
    SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) OVER (PARTITION BY list_id) AS all_negatives,
    COUNT(*) OVER (PARTITION BY list_id) AS all_rows
  FROM predictions
) AS running
WHERE label = 1
