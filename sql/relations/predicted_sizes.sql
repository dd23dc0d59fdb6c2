-- predicted_sizes: one row per size of predicted clusters, with how many clusters are of that size.
SELECT
  group_id,
  CAST(predicted_size AS BIGINT) AS size,
  SUM(predicted_first) AS clusters
FROM contingency
WHERE predicted_first = 1
GROUP BY group_id, predicted_size
