-- split_events: one row per row of a split: its part (train or test), its time, and the time of the first test row of its group.
-- Grain: rows of splits
SELECT
  splits.group_id, splits.split, splits.happened_at,
  test_starts.first_test_at -- of its group, NULL without test rows
FROM splits
INNER JOIN test_starts ON test_starts.group_id = splits.group_id
