-- given_prediction_counts: one row per group: its number of predictions before nulls=drop.
-- Reads: unfiltered.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS given_rows
FROM predictions
GROUP BY group_id
