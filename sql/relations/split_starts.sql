-- one row per group: when its first row of test happened.
SELECT
  group_id,
  MIN(CASE WHEN split = 'test' THEN happened_at END) AS first_test
FROM splits
GROUP BY group_id
