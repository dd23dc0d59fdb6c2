-- cluster_names: one row per group and predicted cluster with a name: number of distinct names, and number of those that other clusters have.
-- Records without a predicted cluster or without a name have none.
-- Grain: group_id, predicted_cluster
SELECT
  group_id, predicted_cluster,
  COUNT(*) AS num_names, -- distinct names of its records
  SUM(CASE WHEN num_clusters > 1 THEN 1 ELSE 0 END) AS num_shared_names -- names that another cluster has, too
FROM (
  -- one row per group, predicted cluster and name: the number of clusters with the name
  SELECT
    names_of_clusters.*,
    COUNT(*) OVER (PARTITION BY group_id, name) AS num_clusters
  FROM (
    -- one row per group, predicted cluster and name
    SELECT group_id, predicted_cluster, name, COUNT(*) AS num_records
    FROM records
    WHERE predicted_cluster IS NOT NULL AND name IS NOT NULL
    GROUP BY group_id, predicted_cluster, name
  ) AS names_of_clusters
) AS clusters_of_names
GROUP BY group_id, predicted_cluster
