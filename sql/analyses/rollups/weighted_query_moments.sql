-- weighted_query_moments: one row per group: number and weighted sums of the values of a metric by query, from which their variance follows.
-- Grain: group_id
SELECT
  group_id,
  COUNT(CASE WHEN weight > 0 THEN value END) AS count,
  SUM(CASE WHEN value IS NULL THEN 0 ELSE weight END) AS weights,
  SUM(weight * value) AS total,
  SUM(CASE WHEN value IS NULL THEN 0 ELSE weight * weight END) AS squared_weights,
  SUM(weight * weight * value) AS products,
  SUM(weight * weight * value * value) AS squares
FROM query_values
GROUP BY group_id
