-- test_starts: one row per group of a split: the time of its first test row.
-- Grain: group_id
SELECT
  group_id,
  MIN(CASE WHEN split = 'test' THEN happened_at END) AS first_test_at -- NULL without test rows
FROM splits
GROUP BY group_id
