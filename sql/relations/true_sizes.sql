-- true_sizes: one row per size of true clusters, with how many clusters are of that size.
SELECT
  group_id,
  CAST(true_size AS BIGINT) AS size,
  SUM(true_first) AS clusters
FROM contingency
WHERE true_first = 1
GROUP BY group_id, true_size
