-- num_true_clusters: number of true clusters.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(true_first) AS num_true_clusters
FROM contingency
GROUP BY group_id
