-- sampled: one row per true cluster: how many records it has, how many of its links were found, how many links the prediction
-- claims of its records (one that leads out of it counts half), and the same of records. Predicted clusters are those of all
-- records, also of those whose true cluster is not known.
-- Never zero: predicted_size.
-- Units: clusters.
SELECT
  group_id,
  true_cluster,
  SUM(n) AS records,
  SUM(n * (n - 1)) / 2 AS found,
  SUM(n * (predicted_size - 1)) / 2 AS claimed,
  SUM(n) * (SUM(n) - 1) / 2 AS links,
  SUM(n * n / predicted_size) AS precise,
  SUM(n * n) / NULLIF(SUM(n), 0) AS recalled,
  SUM(n / predicted_size) AS touched,
  CASE WHEN COUNT(*) = 1 AND SUM(predicted_size) = SUM(n) THEN 1 ELSE 0 END AS is_exact
FROM (
  SELECT
    group_id,
    true_cluster,
    n,
    SUM(n) OVER (PARTITION BY group_id, predicted_cluster, predicted_alone) AS predicted_size
  FROM (
    SELECT group_id, predicted_cluster, predicted_alone, true_cluster, CAST(COUNT(*) AS DOUBLE) AS n
    FROM settled
    GROUP BY group_id, predicted_cluster, predicted_alone, true_cluster
  ) AS counted
) AS met
WHERE true_cluster IS NOT NULL
GROUP BY group_id, true_cluster
