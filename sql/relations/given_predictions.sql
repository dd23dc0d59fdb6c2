-- given_predictions: one row per group: how many predictions were given, also those that nulls=drop leaves out.
-- Rows: as given.
SELECT
  group_id,
  COUNT(*) AS given_rows
FROM predictions
GROUP BY group_id
