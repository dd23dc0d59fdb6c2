-- dropped_prediction_counts: two rows per group, with its predictions before nulls=drop, and minus those after; they sum to the predictions dropped.
-- Grain: many per group_id
SELECT
  group_id,
  given_rows AS row_change
FROM given_prediction_counts
UNION ALL
SELECT
  group_id,
  -total_rows AS row_change
FROM group_sizes
