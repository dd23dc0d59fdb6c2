-- num_predicted_clusters: number of predicted clusters.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(counts_predicted) AS num_predicted_clusters
FROM contingency_table
GROUP BY group_id
