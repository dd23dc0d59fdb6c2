-- comparison_counts: one row per group, metric, component and compared group: value, and numbers of intervals that hold together.
-- Those of values are one per compared group, those of differences one per pair. Compared groups without a value have none.
-- Grain: group_id, metric, component_id, compared_id
SELECT
  ordered_groups.*,
  COUNT(*) OVER (PARTITION BY group_id, metric) AS num_values,
  SUM((num_groups - 1) / 2.0) OVER (PARTITION BY group_id, metric) AS num_pairs
FROM ordered_groups
WHERE value IS NOT NULL
