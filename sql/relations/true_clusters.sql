-- true_clusters: one row per true cluster: its records, the predicted clusters that they are in, how many of its links were found,
-- and how many links predicted clusters claim of its records: within it, and out of it to records of others.
-- Never zero: predicted_size.
SELECT
  group_id,
  true_cluster,
  true_alone,
  SUM(n) AS records,
  COUNT(*) AS parts,
  SUM(n * (n - 1)) / 2 AS found,
  SUM(n * (predicted_size - n)) AS false_links,
  SUM(n * n / predicted_size) AS precise,
  SUM(n * n) AS squares
FROM contingency
GROUP BY group_id, true_cluster, true_alone
