-- records: one row per group of predicted_clusters and record of either clustering: its predicted and its true cluster, NULL where it has none.
-- If only predicted_clusters has groups, every group has all records of true_clusters.
-- Grain: group_id, record_id
SELECT
  predicted_clusters.group_id, predicted_clusters.record_id,
  predicted_clusters.cluster_id AS predicted_cluster, -- NULL if only the other clustering has the record
  true_clusters.cluster_id AS true_cluster -- NULL if only the other clustering has the record
FROM predicted_clusters
LEFT JOIN true_clusters
  ON predicted_clusters.group_id = true_clusters.group_id AND predicted_clusters.record_id = true_clusters.record_id
UNION ALL
SELECT
  true_records.group_id, true_records.record_id,
  predicted_clusters.cluster_id AS predicted_cluster,
  true_records.cluster_id AS true_cluster
FROM (
  -- one row per group and record of the true clusters
  SELECT predicted_groups.group_id, true_clusters.record_id, true_clusters.cluster_id
  FROM (
    -- one row per group of the predicted clusters
    SELECT group_id, COUNT(*) AS num_records
    FROM predicted_clusters
    GROUP BY group_id
  ) AS predicted_groups
  JOIN true_clusters
    ON predicted_groups.group_id = true_clusters.group_id
) AS true_records
LEFT JOIN predicted_clusters
  ON true_records.group_id = predicted_clusters.group_id AND true_records.record_id = predicted_clusters.record_id
WHERE predicted_clusters.record_id IS NULL
