-- influence_sizes: one row per group, metric, component and compared group: root of the squared influence of its units.
-- Grain: group_id, metric, component_id, place
SELECT
  group_id,
  metric,
  component_id,
  place,
  SQRT(SUM(influence * influence)) AS influence_size
FROM influence_places
GROUP BY group_id, metric, component_id, place
