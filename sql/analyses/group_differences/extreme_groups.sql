-- extreme_groups: one row per group, metric and component: the least and the greatest value, their difference and ratio.
-- Grain: group_id, metric, component_id
SELECT
  least.group_id, least.metric, least.component_id, least.position, least.num_groups,
  least.num_compared - least.num_groups AS num_undefined,
  least.value AS value_min,
  greatest.value AS value_max,
  greatest.value - least.value AS difference,
  least.value / NULLIF(greatest.value, 0) AS ratio
FROM ordered_groups AS least
INNER JOIN ordered_groups AS greatest
  ON greatest.group_id = least.group_id AND greatest.metric = least.metric AND greatest.component_id = least.component_id
WHERE least.value_rank = 1 AND greatest.value_rank_from_greatest = 1
