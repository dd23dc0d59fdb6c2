-- attention: one row per group and document shown, with how many lists show it, beside the sum of these numbers.
SELECT
  group_id,
  shows,
  SUM(shows) OVER (PARTITION BY group_id) AS all_shows
FROM displayed
