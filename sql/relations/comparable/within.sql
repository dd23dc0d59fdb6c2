-- comparable: one row per group: how many pairs of records there are, and how many of them are links.
SELECT
  group_id,
  SUM(n) * (SUM(n) - 1) / 2 AS all_pairs,
  SUM(n * (n - 1)) / 2 AS true_links
FROM (
  SELECT group_id, true_cluster, true_alone, CAST(COUNT(*) AS DOUBLE) AS n
  FROM labelled
  GROUP BY group_id, true_cluster, true_alone
) AS counted
GROUP BY group_id
