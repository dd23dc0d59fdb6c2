-- ranked_influences: one row per group, metric, component, compared group and unit: influence of the unit, and rank of the group by value.
-- Grain: group_id, metric, component_id, value_rank, unit
SELECT
  unit_influences.group_id, unit_influences.metric, unit_influences.component_id,
  unit_influences.unit, ordered_groups.value_rank, unit_influences.influence,
  SUM(unit_influences.influence * unit_influences.influence) OVER (
    PARTITION BY unit_influences.group_id, unit_influences.metric, unit_influences.component_id, ordered_groups.value_rank
  ) AS squares
FROM unit_influences
INNER JOIN ordered_groups
  ON ordered_groups.group_id = unit_influences.group_id
  AND ordered_groups.compared_id = unit_influences.compared_id
  AND ordered_groups.metric = unit_influences.metric
  AND ordered_groups.component_id = unit_influences.component_id
WHERE unit_influences.influence <> 0
