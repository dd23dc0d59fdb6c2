-- query_moments: one row per group: number, sum and sum of squares of the values of a metric by query, from which their variance follows.
-- Grain: group_id
SELECT
  group_id,
  COUNT(value) AS count,
  SUM(value) AS total,
  SUM(value * value) AS squares
FROM query_values
GROUP BY group_id
