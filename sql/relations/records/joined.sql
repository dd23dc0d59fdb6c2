-- records: one row per record of either clustering, with its predicted and its true cluster.
-- If only predicted_clusters has groups, every group has all records of true_clusters.
-- Grain: group_id, record_id
SELECT
  p.group_id,
  p.record_id,
  p.cluster_id AS predicted_cluster,
  r.cluster_id AS true_cluster
FROM predicted_clusters AS p
LEFT JOIN true_clusters AS r
  ON p.group_id = r.group_id AND p.record_id = r.record_id
UNION ALL
SELECT
  w.group_id,
  w.record_id,
  p.cluster_id AS predicted_cluster,
  w.cluster_id AS true_cluster
FROM (
  SELECT g.group_id, r.record_id, r.cluster_id
  FROM (SELECT group_id, COUNT(*) AS listed FROM predicted_clusters GROUP BY group_id) AS g
  JOIN true_clusters AS r
    ON g.group_id = r.group_id
) AS w
LEFT JOIN predicted_clusters AS p
  ON w.group_id = p.group_id AND w.record_id = p.record_id
WHERE p.record_id IS NULL
