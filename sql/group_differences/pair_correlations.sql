-- pair_correlations: one row per group, metric, component and pair of compared groups that share units: correlation of the two values.
-- Grain: group_id, metric, component_id, place, higher_place
SELECT
  shared_influence.group_id,
  shared_influence.metric,
  shared_influence.component_id,
  shared_influence.place,
  shared_influence.higher_place,
  shared_influence.products / NULLIF(low.influence_size * high.influence_size, 0) AS correlation
FROM shared_influence
INNER JOIN influence_sizes AS low
  ON low.group_id = shared_influence.group_id AND low.metric = shared_influence.metric AND low.component_id = shared_influence.component_id
  AND low.place = shared_influence.place
INNER JOIN influence_sizes AS high
  ON high.group_id = shared_influence.group_id AND high.metric = shared_influence.metric AND high.component_id = shared_influence.component_id
  AND high.place = shared_influence.higher_place
