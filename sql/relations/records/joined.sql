-- records: one row per record of either clustering, with its predicted and its true cluster.
-- If only the prediction has groups, every group has all records of the reference.
-- Grain: group_id, record_id
SELECT
  p.group_id,
  p.record_id,
  p.cluster_id AS predicted_cluster,
  r.cluster_id AS true_cluster
FROM prediction AS p
LEFT JOIN reference AS r
  ON p.group_id = r.group_id AND p.record_id = r.record_id
UNION ALL
SELECT
  w.group_id,
  w.record_id,
  p.cluster_id AS predicted_cluster,
  w.cluster_id AS true_cluster
FROM (
  SELECT g.group_id, r.record_id, r.cluster_id
  FROM (SELECT group_id, COUNT(*) AS listed FROM prediction GROUP BY group_id) AS g
  JOIN reference AS r
    ON g.group_id = r.group_id
) AS w
LEFT JOIN prediction AS p
  ON w.group_id = p.group_id AND w.record_id = p.record_id
WHERE p.record_id IS NULL
