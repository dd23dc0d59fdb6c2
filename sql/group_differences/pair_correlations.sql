-- pair_correlations: one row per group, metric, component and pair of compared groups that share units: correlation of the two values.
-- Grain: group_id, metric, component_id, place, higher_place
SELECT
  low.group_id,
  low.metric,
  low.component_id,
  low.place,
  high.place AS higher_place,
  SUM(low.influence * high.influence) / NULLIF(SQRT(MAX(low.squares)) * SQRT(MAX(high.squares)), 0) AS correlation
FROM influence_places AS low
INNER JOIN influence_places AS high
  ON high.group_id = low.group_id AND high.metric = low.metric AND high.component_id = low.component_id AND high.unit = low.unit AND high.place > low.place
GROUP BY low.group_id, low.metric, low.component_id, low.place, high.place
