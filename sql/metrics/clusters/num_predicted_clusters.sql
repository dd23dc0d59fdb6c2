-- num_predicted_clusters: number of predicted clusters.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(predicted_first) AS num_predicted_clusters
FROM contingency
GROUP BY group_id
