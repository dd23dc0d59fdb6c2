-- split_events: one row per event of a split, with the time of the first test event of its group.
-- Grain: rows of splits
SELECT
  s.group_id,
  s.split,
  s.happened_at,
  t.first_test_at
FROM splits AS s
INNER JOIN test_starts AS t ON t.group_id = s.group_id
