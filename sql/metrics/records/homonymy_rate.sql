-- HomonymyRate: share of the predicted clusters that have a name in common with another cluster.
-- Use when: you look for entities with the same name that a matcher could merge by mistake.
-- Direction: neither.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent)
-- Undefined: no predicted cluster with a name.
-- Source: er-evaluation homonimy_rate, of clusters with a name.
SELECT
  group_id,
  SUM(CASE WHEN num_shared_names > 0 THEN 1 ELSE 0 END) / NULLIF(COUNT(*), 0) AS homonymy_rate
FROM cluster_names
GROUP BY group_id
