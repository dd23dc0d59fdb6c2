-- predictions: one row per group: its predictions, and those whose values a metric treats in its own way.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS audit_rows,
  SUM(CASE WHEN label = 0 THEN 1 ELSE 0 END) AS audit_zero_labels -- MAPE: labels are 0, and an error is divided by eps in their place. Leave them out with where={condition}
FROM predictions
GROUP BY group_id
