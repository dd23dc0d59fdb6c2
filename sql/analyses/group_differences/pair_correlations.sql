-- pair_correlations: one row per group, metric, component and pair of compared groups that share units: correlation of the two values.
-- Grain: group_id, metric, component_id, value_rank, higher_rank
SELECT
  low.group_id, low.metric, low.component_id, low.value_rank,
  high.value_rank AS higher_rank,
  SUM(low.influence * high.influence) / NULLIF(SQRT(MAX(low.squares)) * SQRT(MAX(high.squares)), 0) AS correlation
FROM ranked_influences AS low
INNER JOIN ranked_influences AS high
  ON high.group_id = low.group_id AND high.metric = low.metric AND high.component_id = low.component_id
  AND high.unit = low.unit AND high.value_rank > low.value_rank
GROUP BY low.group_id, low.metric, low.component_id, low.value_rank, high.value_rank
