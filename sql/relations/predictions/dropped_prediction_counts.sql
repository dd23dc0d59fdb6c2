-- dropped_prediction_counts: one row per group before nulls=drop, and one after it: number of predictions, negated in the row after it.
-- Grain: many per group_id
SELECT
  group_id,
  given_rows AS row_change -- predictions given, or minus those that are left
FROM given_prediction_counts
UNION ALL
SELECT
  group_id,
  -total_rows AS row_change
FROM group_sizes
