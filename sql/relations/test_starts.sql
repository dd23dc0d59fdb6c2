-- test_starts: one row per group, with the time of its first test event.
-- Grain: group_id
SELECT
  group_id,
  MIN(CASE WHEN split = 'test' THEN happened_at END) AS first_test_at
FROM splits
GROUP BY group_id
