-- largest_differences: one row per group, metric and component: its rank by difference, and the least ratio of all components of the metric.
-- Grain: group_id, metric, component_id
SELECT
  group_id, metric, component_id,
  ROW_NUMBER() OVER (
    PARTITION BY group_id, metric ORDER BY COALESCE(difference, -1) DESC, position
  ) AS difference_rank,
  MIN(ratio) OVER (PARTITION BY group_id, metric) AS least_ratio
FROM extreme_groups
