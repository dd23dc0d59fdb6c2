-- NameVariationRate: share of the predicted clusters that hold several names.
-- Use when: you look for entities with several names that a matcher could split by mistake.
-- Direction: neither.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent)
-- Undefined: no predicted cluster with a name.
-- Source: er-evaluation name_variation_rate, of clusters with a name.
SELECT
  group_id,
  SUM(CASE WHEN num_names > 1 THEN 1 ELSE 0 END) / NULLIF(COUNT(*), 0) AS name_variation_rate
FROM cluster_names
GROUP BY group_id
